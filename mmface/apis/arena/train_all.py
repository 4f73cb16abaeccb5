"""Many trainings, side by side."""
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from .arena_data import ArenaData
from .setting import Setting
from .train_one import RESULT, train_one
from .training import Training, identity


def train_all(trainings: Sequence[Training], data: ArenaData, setting: Setting, folder: Path, processes: int,
              say: Callable[[str], object]) -> None:
    """Does what is not done yet, each training in ``folder/<identity>``.

    Args:
        trainings: those that are given twice are done once.
        data: for all of them.
        setting: likewise.
        folder: of all trainings, of this comparison and of others.
        processes: how many at a time, each of one thread: the numbers do not depend on it.
        say: told of every training that ends.

    Raises:
        ValueError, OSError, ...: as the first training that cannot be run raises it; those under way end first.
    """
    named = {identity(training, data, setting): training for training in trainings}
    todo = {name: training for name, training in named.items() if not (folder / name / RESULT).is_file()}
    if not todo:
        return
    os.environ.update(OMP_NUM_THREADS='1', MKL_NUM_THREADS='1', OMP_WAIT_POLICY='PASSIVE')  # read by the new processes
    with ProcessPoolExecutor(processes, multiprocessing.get_context('spawn'), initializer=_begin_worker) as pool:
        waiting = {pool.submit(_train, training, data, setting, folder / name): training for name, training in todo.items()}
        try:
            for number, future in enumerate(as_completed(waiting), 1):
                training = waiting[future]
                say(f'{number} of {len(todo)}: {training.loss["type"]}, seed {training.seed}, lr {training.lr:g}: {future.result()}')
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin_worker() -> None:
    import torch
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed command leaves no training behind that nobody waits for, and that keeps its folder from the next command."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """What this process says goes to the end of a file: several trainings on one terminal cannot be read."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(stream) for stream in (1, 2)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open('ab') as file:
        try:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for stream, before in zip((1, 2), kept, strict=True):
                os.dup2(before, stream)
                os.close(before)


def _train(training: Training, data: ArenaData, setting: Setting, folder: Path) -> str:
    with _output_to(folder / 'console.txt'):
        return train_one(training, data, setting, folder)['status']

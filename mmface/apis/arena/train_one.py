"""One training from its config to the embeddings of the test images."""
import fcntl
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from mmengine.config import Config
from mmengine.device import get_device

from mmface.apis.torch_backend import TorchEmbedder
from mmface.apis.train import train
from mmface.datasets import FaceDataset
from mmface.utils.atomic_file import atomic_file
from mmface.version import __version__

from .arena_data import TEST, ArenaData
from .degrade import Degrade
from .setting import Setting
from .training import Training, identity, training_config
from .training_watch_hook import DivergedError

RESULT = 'result.json'
MARKS = (0., .25, .5, .75, 1.)  #: shares of the schedule after which the test images are embedded
CLEAN, DEGRADED = 'clean', 'degraded'
_BATCH = 64


def train_one(training: Training, data: ArenaData, setting: Setting, folder: Path) -> dict:
    """Trains, or goes on from the last checkpoint, and leaves the test images' embeddings and ``result.json``.

    The folder gets ``training.json`` and ``config.py``, MMEngine's ``train/``, ``clean_0.npy`` ... ``clean_1.npy`` (after shares of the
    schedule; 0 is the network as drawn), ``degraded_1.npy``, float32 ``[M, D]``, and last of all the result. Where it is there, nothing is
    done. A training that diverges has a result that says so. It is the caller who sets the number of threads: to one.

    Returns:
        The result.

    Raises:
        ValueError: another process is at it, or a training set smaller than a batch.
        ...: as building and training raise it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if (folder / RESULT).is_file():
            return json.loads((folder / RESULT).read_text())
        return _train_and_embed(training, data, setting, folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuses a folder that another process works in; a process that was killed has left it."""
    with (folder / '.lock').open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f'{folder}: another process is at this training; wait for it, or choose another folder') from None
        yield


def _train_and_embed(training: Training, data: ArenaData, setting: Setting, folder: Path) -> dict:
    config = training_config(training, data, setting)
    _write_json(folder / 'training.json', training.describe())
    config.dump(folder / 'config.py')
    outcome: dict = dict(status='finished')
    try:
        runner = train(config, work_dir=folder / 'train', resume='auto', validate=False)
        watch = next(hook for hook in runner.hooks if type(hook).__name__ == 'TrainingWatchHook')
        outcome |= dict(seconds=watch.seconds / watch.steps * runner.max_iters if watch.steps else None, iterations=runner.max_iters)
        _embed_all(config, data, folder)
    except DivergedError as error:
        outcome = dict(status='diverged', iterations=error.iteration, seconds=None)
    result = dict(
        schema=1, **outcome, identity=identity(training, data, setting), training=training.describe(), data=data.sha256,
        embeddings={path.name: _sha256(path) for path in sorted(folder.glob('*.npy'))},
        logs={str(path.relative_to(folder)): _sha256(path) for path in sorted(folder.glob('train/*/*.log'))},
        machine=f'{platform.machine()}, {os.cpu_count()} cores, {get_device()}', threads=torch.get_num_threads(), torch=torch.__version__,
        numpy=np.__version__, python=platform.python_version(), mmface=__version__)
    _write_json(folder / RESULT, result)
    for checkpoint in sorted(folder.glob('train/epoch_*.pth')):
        if checkpoint.name != f'epoch_{setting.epochs[data.name]}.pth':
            checkpoint.unlink() if checkpoint.is_file() else shutil.rmtree(checkpoint)
    return result


def _embed_all(config: Config, data: ArenaData, folder: Path) -> None:
    epochs = config.train_cfg.max_epochs
    for mark in MARKS:
        torch.manual_seed(config.randomness.seed)  # of the network as drawn
        network = TorchEmbedder(config, folder / f'train/epoch_{round(mark * epochs)}.pth' if mark else None, 'cpu')
        for test, bad in ((CLEAN, []), (DEGRADED, [Degrade()])) if mark == 1 else ((CLEAN, []), ):
            embeddings = _embed(network, config, data, bad)
            if not (np.isfinite(embeddings).all() and np.linalg.norm(embeddings, axis=1).all()):
                raise DivergedError(round(mark * epochs) * (data.images // config.train_dataloader.batch_size))
            with atomic_file(folder / f'{test}_{mark:g}.npy') as file:
                np.save(file, embeddings)


def _embed(network: TorchEmbedder, config: Config, data: ArenaData, bad: list) -> np.ndarray:
    decode, *rest = config.test_dataloader.dataset.pipeline
    test = FaceDataset(str(data.folder / TEST), pipeline=[decode, *bad, *rest])
    batches = [range(start, min(start + _BATCH, len(test))) for start in range(0, len(test), _BATCH)]
    return np.concatenate([
        network.embed(np.stack([test[at]['inputs'].numpy().transpose(1, 2, 0) for at in batch])) for batch in batches
    ]).astype(np.float32)  # yapf: disable


def _write_json(path: Path, value: dict) -> None:
    with atomic_file(path) as file:
        file.write((json.dumps(value, indent=2) + '\n').encode())


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

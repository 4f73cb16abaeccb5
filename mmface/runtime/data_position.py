"""Where training stands in the data: what lets a resumed run go on with the next unseen sample."""
from collections.abc import Iterator
from itertools import islice
from typing import Any

from mmengine.dist import get_world_size
from mmengine.runner import Runner
from torch.utils.data import DataLoader


class DataPosition:
    """Counts the samples that all ranks together have taken from a sampler's order, and finds the place again.

    The count travels in the runner's message hub, and so in every checkpoint, together with the sampler's seed. It counts samples and not
    batches, so a run may go on with another batch size or number of ranks.

    Args:
        runner: whose message hub keeps the position.
        dataloader: with automatic batching; ``dataloader.batch_sampler.sampler`` should have ``skip(n)``: begin the next iteration after
            this rank's first n samples. From a sampler without it the seen samples are read once more, and dropped.
    """
    KEY = 'data_position'

    def __init__(self, runner: Runner, dataloader: DataLoader) -> None:
        self.runner = runner
        self.dataloader = dataloader
        self.sampler = dataloader.batch_sampler.sampler
        self.world_size = get_world_size()
        self.samples_per_step = dataloader.batch_sampler.batch_size * self.world_size
        self.samples = 0

    def restore(self) -> None:
        """Takes over the position of the checkpoint that the runner resumed from."""
        saved = self.runner.message_hub.get_info(self.KEY, {})
        self.samples = saved.get('samples', 0)
        if 'seed' in saved:
            self.sampler.seed = saved['seed']

    def advance(self) -> None:
        """One more batch on every rank."""
        self._publish(self.samples + self.samples_per_step)

    def rewind(self) -> None:
        """Back to the beginning of the sampler's order, where a new epoch starts."""
        self._publish(0)

    def batches(self) -> Iterator[tuple[int, Any]]:
        """The batches that are left, numbered as in an uninterrupted run."""
        seen = self.samples // self.samples_per_step
        if seen and hasattr(self.sampler, 'skip'):
            self.sampler.skip(self.samples // self.world_size)
            return enumerate(self.dataloader, seen)
        if seen:
            self.runner.logger.warning(f'{type(self.sampler).__name__} has no skip(): reading {seen} batches again, to drop them')
        return enumerate(islice(self.dataloader, seen, None), seen)

    def close(self) -> None:
        """Lets the workers go; those of a loader that dies in the runner's reference cycles are waited for in vain, five seconds each."""
        self.dataloader._iterator = None

    def _publish(self, samples: int) -> None:
        self.samples = samples
        state = dict(samples=samples)
        if hasattr(self.sampler, 'seed'):
            state['seed'] = self.sampler.seed
        self.runner.message_hub.update_info(self.KEY, state)

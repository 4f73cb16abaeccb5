"""A shuffled epoch that can begin anywhere."""
from collections.abc import Iterator, Sized

import numpy as np
import torch
from mmengine.dist import get_dist_info, sync_random_seed
from torch.utils.data import Sampler

from mmface.datasets.seeding import mix
from mmface.registry import DATA_SAMPLERS

_BLOCK = 1 << 16


@DATA_SAMPLERS.register_module()
class FaceSampler(Sampler):
    """Yields ``(epoch, index)`` for one epoch at a time; each rank gets every world_size-th sample of one common order.

    The order depends on (seed, epoch) alone, so training can go on from any sample: see :meth:`skip`.

    Args:
        dataset: anything with a length.
        shuffle: in a new order each epoch, else as stored.
        seed: the same on all ranks; None draws one and shares it.
        round_up: repeats samples from the beginning of the order, so that all ranks get equally many.
    """

    def __init__(self, dataset: Sized, shuffle: bool = True, seed: int | None = 0, round_up: bool = True) -> None:
        self.rank, self.world_size = get_dist_info()
        self.size = len(dataset)
        self.shuffle = shuffle
        self.seed = sync_random_seed() if seed is None else seed
        self.epoch = 0
        self._skipped = 0
        self.total = -(-self.size // self.world_size) * self.world_size if round_up else self.size

    def __len__(self) -> int:
        """Samples of this rank in a whole epoch, whatever is skipped."""
        return len(range(self.rank, self.total, self.world_size))

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def skip(self, samples: int) -> None:
        """The next iteration, and only that, leaves out this rank's first ``samples``."""
        self._skipped = samples

    def __iter__(self) -> Iterator[tuple[int, int]]:
        epoch, first, self._skipped = self.epoch, self.rank + self._skipped * self.world_size, 0
        order = epoch_order(self.size, self.shuffle, self.seed, epoch)
        for at in range(first, self.total, self.world_size * _BLOCK):
            wanted = np.arange(at, min(at + self.world_size * _BLOCK, self.total), self.world_size) % self.size
            yield from ((epoch, index) for index in order[wanted].tolist())


def epoch_order(size: int, shuffle: bool, seed: int, epoch: int) -> np.ndarray:
    """The order of an epoch, int64 ``[size]``."""
    if not shuffle:
        return np.arange(size)
    generator = torch.Generator().manual_seed(mix(seed, epoch) >> 1)
    return torch.randperm(size, generator=generator).numpy()

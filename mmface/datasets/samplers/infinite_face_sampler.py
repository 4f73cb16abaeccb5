"""Epochs without end, for training that counts iterations."""
from collections.abc import Iterator, Sized

from mmengine.dist import get_dist_info, sync_random_seed
from torch.utils.data import Sampler

from mmface.registry import DATA_SAMPLERS

from .face_sampler import epoch_order


@DATA_SAMPLERS.register_module()
class InfiniteFaceSampler(Sampler):
    """Yields ``(epoch, index)`` without end, one epoch after the other, for training that counts iterations.

    The order is that of ``FaceSampler``; ranks take turns in the endless sequence, so none repeats a sample to fill an epoch.

    Args:
        dataset, shuffle, seed: as in ``FaceSampler``.
    """

    def __init__(self, dataset: Sized, shuffle: bool = True, seed: int | None = 0) -> None:
        self.rank, self.world_size = get_dist_info()
        self.size = len(dataset)
        self.shuffle = shuffle
        self.seed = sync_random_seed() if seed is None else seed
        self._skipped = 0

    def __len__(self) -> int:
        """The size of the data set, which is what MMEngine derives the length of an epoch from."""
        return self.size

    def set_epoch(self, epoch: int) -> None:
        """Does nothing: epochs follow from the position."""

    def skip(self, samples: int) -> None:
        """The next iteration begins after this rank's first ``samples``, which may be any number of epochs; no image is read for it."""
        self._skipped = samples

    def __iter__(self) -> Iterator[tuple[int, int]]:
        at, self._skipped = self.rank + self._skipped * self.world_size, 0
        while True:
            epoch = at // self.size
            order = epoch_order(self.size, self.shuffle, self.seed, epoch)
            while at // self.size == epoch:
                yield epoch, int(order[at % self.size])
                at += self.world_size

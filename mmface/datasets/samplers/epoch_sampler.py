"""What samplers of identities share."""
from collections.abc import Iterator

from mmengine.dist import get_dist_info, sync_random_seed
from torch.utils.data import Sampler


class EpochSampler(Sampler):
    """Yields ``(epoch, index)``, one epoch at a time or without end, from any position. A subclass says what is in an epoch.

    Args:
        seed: the same on all ranks; None draws one and shares it.
        endless: one epoch after the other, for training that counts iterations.
    """

    def __init__(self, seed: int | None, endless: bool) -> None:
        self.rank, self.world_size = get_dist_info()
        self.seed = sync_random_seed() if seed is None else seed
        self.endless = endless
        self.epoch = 0
        self._skipped = 0

    def __len__(self) -> int:
        """Samples of this rank in a whole epoch, whatever is skipped."""
        raise NotImplementedError

    def indices(self, epoch: int, skipped: int) -> Iterator[int]:
        """This rank's samples of an epoch, without the first ``skipped``."""
        raise NotImplementedError

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch comes next; an endless sampler knows."""
        self.epoch = 0 if self.endless else epoch

    def skip(self, samples: int) -> None:
        """The next iteration, and only that, leaves out this rank's first ``samples``."""
        self._skipped = samples

    def __iter__(self) -> Iterator[tuple[int, int]]:
        epochs, skipped = divmod(self._skipped, len(self)) if self.endless else (0, self._skipped)
        epoch, self._skipped = self.epoch + epochs, 0
        yield from ((epoch, index) for index in self.indices(epoch, skipped))
        while self.endless:
            epoch += 1
            for index in self.indices(epoch, 0):
                yield epoch, index

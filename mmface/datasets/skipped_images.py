"""Images that training goes on without."""
import logging

import torch
from mmengine.logging import print_log

from .formats import DataFormatError


class SkippedImages:
    """Counts the images of a set that could not be used, in all workers of this process, and stops training where they are too many.

    Args:
        path: the set, for messages.
        size: N, its number of images.
        share: the largest share of it that may be skipped, 0 to 1.
    """

    def __init__(self, path: object, size: int, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f'max_skipped is a share of the images, 0 to 1, got {share}')
        self.path, self.share = path, share
        self._flags = torch.zeros(size, dtype=torch.bool).share_memory_()  # workers write into it, forked and spawned ones

    def __len__(self) -> int:
        return int(self._flags.sum())

    def indices(self) -> list[int]:
        """Which images were skipped so far."""
        return self._flags.nonzero().flatten().tolist()

    def add(self, at: int, error: DataFormatError) -> None:
        """Logs that image ``at`` is skipped, the first time.

        Raises:
            DataFormatError: where more than the stated share has now been skipped.
        """
        if self._flags[at]:
            return
        self._flags[at] = True
        count, size = len(self), len(self._flags)
        # As an error, because MMEngine shows nothing less from any rank but the first.
        print_log(f'skipped, {count} of {size} images so far: {error}', logger='current', level=logging.ERROR)
        if count > self.share * size:
            raise DataFormatError(error.path, error.where, error.value, f'{count} of {size} images cannot be used, more than '
                                  f'max_skipped={self.share:g} allows; {error.hint}')

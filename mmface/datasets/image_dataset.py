"""What the data sets of this package share: one image or a whole batch at a time."""
from collections.abc import Sequence
from typing import Any

from torch.utils.data import Dataset

from .formats import DataFormatError
from .pipeline import Pipeline
from .seeding import seed_sample
from .skipped_images import SkippedImages

Index = int | tuple[int, int]


class ImageDataset(Dataset):
    """Images that go through a pipeline. A subclass has a length and says how a record is read (:meth:`load`).

    ``dataset[i]`` gives what the pipeline makes of image i. ``dataset[epoch, i]``, which is what this package's samplers ask for, first
    seeds the global generators from (seed, epoch, i), so that a sample does not depend on workers, order or resuming; a plain ``i`` seeds
    nothing. A DataLoader asks for whole batches (``__getitems__``): their images then go straight into the memory of the batch, where the
    pipeline ends with ``PackFace``.

    Attributes:
        pipeline: what is done to each image.
        seed: of its randomness.
        skipped: None, or what counts the images that cannot be used; the next usable image then takes the place of each.
    """
    pipeline: Pipeline
    seed: int = 0
    skipped: SkippedImages | None = None

    def __len__(self) -> int:
        raise NotImplementedError

    def load(self, at: int) -> dict:
        """The record as the pipeline gets it: ``dict(img_bytes, path, where, sample_idx, ...)``; ``at`` is in range."""
        raise NotImplementedError

    def announce(self, positions: Sequence[int]) -> None:
        """Says which images are loaded next, for readers that can fetch them side by side. Nothing has to be done."""

    def __getitem__(self, index: Index) -> Any:
        self.announce([index[1] if isinstance(index, tuple) else index])
        return self.pipeline.pack(self.prepare(index))

    def __getitems__(self, indices: Sequence[Index]) -> Sequence:
        self.announce([index[1] if isinstance(index, tuple) else index for index in indices])
        return self.pipeline.pack_batch(len(indices), map(self.prepare, indices))

    def prepare(self, index: Index) -> Any:
        """What the transforms before the packing make of an image.

        Raises:
            IndexError: for a position outside the set.
            DataFormatError: see :meth:`transformed`.
        """
        epoch, at = index if isinstance(index, tuple) else (None, index)
        at = range(len(self))[at]
        return self.transformed(at, None if epoch is None else (self.seed, epoch, at))

    def transformed(self, at: int, seeds: tuple[int, int, int] | None) -> Any:
        """Likewise, of the image ``at`` with its randomness from ``seeds``: (seed, epoch, position), or None to leave it to chance.

        Raises:
            DataFormatError: for an image that cannot be used and is not to be skipped; says how to look through the whole set.
        """
        while True:  # ends: where too many are skipped, add() raises
            try:
                results = self.load(at)
                if seeds is not None:
                    seed_sample(*seeds, self.pipeline.draws_from)
                return self.pipeline.prepare(results)
            except DataFormatError as error:
                if self.skipped is None:
                    raise inspectable(error) from None
                self.skipped.add(at, error)
                at = (at + 1) % len(self)


def inspectable(error: DataFormatError, path: object = None) -> DataFormatError:
    """The error with the command that looks through the whole set that it is in: ``path``, or else the error's own."""
    command = f'mmface doctor {error.path if path is None else path}'
    return DataFormatError(error.path, error.where, error.value, f'{error.hint}; all that is wrong with the set: {command}'.lstrip('; '))

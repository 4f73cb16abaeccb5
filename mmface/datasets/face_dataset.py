"""The training set."""
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mmface.registry import DATASETS

from .formats import DataFormatError, DataFormatWarning, open_records
from .image_dataset import ImageDataset, inspectable
from .pipeline import build_pipeline
from .skipped_images import SkippedImages


@DATASETS.register_module()
class FaceDataset(ImageDataset):
    """Labelled face images in any format that :func:`open_records` knows.

    ``dataset[i]`` passes ``dict(img_bytes, path, where, gt_label, sample_idx)`` through the pipeline; for ``dataset[epoch, i]`` and whole
    batches see :class:`ImageDataset`.

    An image that cannot be used stops the run. With ``on_error='skip'`` the next usable image of the set, in the order of the records,
    takes its place: a batch keeps its size, and what it holds depends on the data alone, not on workers or ranks. Each skipped image is
    logged once by each rank that runs into it.

    Attributes:
        records: the reader.
        labels: int64 ``[N]``.
        metainfo: ``num_classes``, and ``classes`` (name -> label) where classes have names.
        skipped: a :class:`SkippedImages` with ``on_error='skip'``, else None.

    Args:
        path: see :func:`open_records`.
        format: likewise.
        pipeline: transforms, as dicts or callables; the last is normally ``PackFace``.
        num_classes: the classes that the head has; by default what the data say.
        seed: of the pipeline's randomness.
        on_error: ``'stop'``, or ``'skip'`` to go on without images that cannot be read or decoded.
        max_skipped: the share of the N images above which a process that skips gives up.
        reader: further options of the reader.

    Raises:
        DataFormatError: for damaged data, and for a label that ``num_classes`` has no room for.
    """

    def __init__(self,
                 path: str,
                 format: str = 'auto',
                 pipeline: Sequence[dict | Callable] = (),
                 num_classes: int | None = None,
                 seed: int = 0,
                 on_error: str = 'stop',
                 max_skipped: float = .001,
                 reader: dict | None = None) -> None:
        if on_error not in ('stop', 'skip'):
            raise ValueError(f"on_error is 'stop' or 'skip', got {on_error!r}")
        try:
            self.records = open_records(path, format, **(reader or {}))
        except DataFormatError as error:
            raise inspectable(error, path) from None
        self.pipeline = build_pipeline(pipeline)
        self.seed = seed
        self.skipped = SkippedImages(self.records.path, len(self.records), max_skipped) if on_error == 'skip' else None
        if num_classes is None:
            num_classes = self.records.num_classes
        self._check_room(num_classes)
        self.metainfo: dict[str, Any] = dict(num_classes=num_classes)
        if self.records.classes is not None:
            self.metainfo['classes'] = self.records.classes

    @property
    def labels(self) -> np.ndarray:
        return self.records.labels

    def __len__(self) -> int:
        return len(self.records)

    def announce(self, positions: Sequence[int]) -> None:
        if hasattr(self.records, 'announce'):
            self.records.announce(positions)

    def load(self, at: int) -> dict:
        records = self.records
        return dict(img_bytes=records.read(at), path=records.path, where=records.where(at), gt_label=int(self.labels[at]), sample_idx=at)

    def _check_room(self, num_classes: int) -> None:
        outside = np.flatnonzero(self.labels >= num_classes)
        if outside.size:
            at = int(outside[0])
            raise DataFormatError(
                self.records.path, self.records.where(at), f'label {self.labels[at]} outside num_classes={num_classes}',
                f'like {outside.size} of {len(self.records)} images; set num_classes to {self.records.num_classes}, which the data say')
        if num_classes > self.records.num_classes:
            warnings.warn(
                DataFormatWarning(self.records.path, 'labels', f'{self.records.num_classes} classes',
                                  f'num_classes={num_classes} leaves prototypes that no image belongs to'), stacklevel=3)

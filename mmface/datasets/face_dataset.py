"""The training set."""
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch.utils.data import Dataset

from mmface.registry import DATASETS

from .formats import DataFormatError, DataFormatWarning, open_records
from .pipeline import build_pipeline
from .seeding import seed_sample


@DATASETS.register_module()
class FaceDataset(Dataset):
    """Labelled face images in any format that :func:`open_records` knows.

    ``dataset[i]`` passes ``dict(img_bytes, path, where, gt_label, sample_idx)`` through the pipeline. ``dataset[epoch, i]``, which is what
    this package's samplers ask for, first seeds the global generators of Python, NumPy and torch from (seed, epoch, i), so that a sample
    does not depend on workers, order or resuming; a plain ``i`` seeds nothing.

    Attributes:
        records: the reader; ``records.labels`` is int64 ``[N]``.
        metainfo: ``num_classes``, and ``classes`` (name -> label) where classes have names.

    Args:
        path: see :func:`open_records`.
        format: likewise.
        pipeline: transforms, as dicts or callables; the last is normally ``PackFace``.
        num_classes: the classes that the head has; by default what the data say.
        seed: of the pipeline's randomness.
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
                 reader: dict | None = None) -> None:
        self.records = open_records(path, format, **(reader or {}))
        self.pipeline = build_pipeline(pipeline)
        self.seed = seed
        if num_classes is None:
            num_classes = self.records.num_classes
        outside = np.flatnonzero(self.records.labels >= num_classes)
        if outside.size:
            at = int(outside[0])
            raise DataFormatError(
                self.records.path, self.records.where(at), f'label {self.records.labels[at]} outside num_classes={num_classes}',
                f'like {outside.size} of {len(self.records)} images; set num_classes to {self.records.num_classes}, which the data say')
        if num_classes > self.records.num_classes:
            warnings.warn(
                DataFormatWarning(self.records.path, 'labels', f'{self.records.num_classes} classes',
                                  f'num_classes={num_classes} leaves prototypes that no image belongs to'), stacklevel=2)
        self.metainfo: dict[str, Any] = dict(num_classes=num_classes)
        if self.records.classes is not None:
            self.metainfo['classes'] = self.records.classes

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: int | tuple[int, int]) -> Any:
        epoch, at = index if isinstance(index, tuple) else (None, index)
        at = range(len(self))[at]
        if epoch is not None:
            seed_sample(self.seed, epoch, at)
        records = self.records
        return self.pipeline(
            dict(img_bytes=records.read(at), path=records.path, where=records.where(at), gt_label=int(records.labels[at]), sample_idx=at))

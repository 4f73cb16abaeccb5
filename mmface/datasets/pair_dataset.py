"""The images of a verification set."""
from collections.abc import Callable, Sequence
from typing import Any

from torch.utils.data import Dataset

from mmface.registry import DATASETS

from .formats import EVALS
from .pipeline import build_pipeline


@DATASETS.register_module()
class PairDataset(Dataset):
    """The M images that a pair set compares, each once, in the order of ``PairSet.paths``.

    Attributes:
        metainfo: ``pair_set``, the ``PairSet``.

    Args:
        root: the folder of the images or, without ``pairs``, whatever ``open_eval`` takes.
        pairs: the list of pairs; by default ``root`` holds it.
        name: what results are called after; by default the format's own.
        pipeline: as in ``FaceDataset``; there is no ``gt_label``.
        format: see ``open_eval``.
        reader: further options of the reader.

    Raises:
        DataFormatError: for a broken list or missing images.
    """

    def __init__(self,
                 root: str,
                 pairs: str | None = None,
                 name: str | None = None,
                 pipeline: Sequence[dict | Callable] = (),
                 format: str = 'auto',
                 reader: dict | None = None) -> None:
        options = dict(reader or {})
        if pairs is not None:
            options['images'] = root
        if name is not None:
            options['name'] = name
        self.images = EVALS.open(root if pairs is None else pairs, format, **options)
        self.pipeline = build_pipeline(pipeline)
        self.metainfo: dict[str, Any] = dict(pair_set=self.images.set)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        at = range(len(self))[index]
        return self.pipeline(dict(img_bytes=self.images.read(at), path=self.images.path, where=self.images.where(at), sample_idx=at))

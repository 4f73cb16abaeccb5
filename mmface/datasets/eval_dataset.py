"""The images of an evaluation set."""
from collections.abc import Callable, Sequence
from typing import Any

from mmface.registry import DATASETS
from mmface.structures import PairSet, SearchSet, TemplateSet

from .formats import EVALS
from .image_dataset import ImageDataset
from .pipeline import build_pipeline

#: Under which name a metric finds the set, so that one for templates says plainly that it was given pairs.
META_KEYS: dict[type, str] = {PairSet: 'pair_set', TemplateSet: 'template_set', SearchSet: 'search_set'}


@DATASETS.register_module()
class EvalDataset(ImageDataset):
    """The M images that a set of pairs, templates or searches compares, each once, in the order of its ``paths``.

    ``dataset[i]`` passes ``dict(img_bytes, path, where, sample_idx)`` through the pipeline; where the set has landmarks of crops that are
    not aligned yet (IJB), ``landmarks``, float64 ``[5, 2]``, pixels (x, y) of the image as stored, comes along for ``AlignFace``.

    Attributes:
        images: the reader; ``images.set`` is the set.
        metainfo: the set, under ``pair_set``, ``template_set`` or ``search_set``.

    Args:
        path: see :func:`open_eval`.
        images: the folder of the images; by default where the format has them.
        name: what results are called after; by default the format's own.
        format: see :func:`open_eval`.
        pipeline: as in ``FaceDataset``; there is no ``gt_label``.
        reader: further options of the reader.

    Raises:
        DataFormatError: for a broken list or missing images.
    """

    def __init__(self,
                 path: str,
                 images: str | None = None,
                 name: str | None = None,
                 format: str = 'auto',
                 pipeline: Sequence[dict | Callable] = (),
                 reader: dict | None = None) -> None:
        given = {key: value for key, value in (('images', images), ('name', name)) if value is not None}
        self.images = EVALS.open(path, format, **given, **(reader or {}))
        self.pipeline = build_pipeline(pipeline)
        self.metainfo: dict[str, Any] = {META_KEYS[type(self.images.set)]: self.images.set}
        self._landmarks = getattr(self.images.set, 'landmarks', None)

    def __len__(self) -> int:
        return len(self.images)

    def load(self, at: int) -> dict:
        results = dict(img_bytes=self.images.read(at), path=self.images.path, where=self.images.where(at), sample_idx=at)
        if self._landmarks is not None:
            results['landmarks'] = self._landmarks[at]
        return results

"""The last transform of every pipeline."""
from collections.abc import Iterable

import numpy as np
import torch
from mmcv.transforms import BaseTransform

from mmface.datasets.face_batch import FIELDS, FaceBatch, picture
from mmface.registry import TRANSFORMS
from mmface.structures import FaceDataSample


@TRANSFORMS.register_module()
class PackFace(BaseTransform):
    """Packs ``img`` and, where there are, ``gt_label``, ``sample_idx`` and ``source`` for the model.

    An image becomes ``dict(inputs=uint8 [3, H, W] RGB, data_samples=FaceDataSample)``; ``inputs`` shares memory with ``img`` where that is
    contiguous. A whole batch becomes a :class:`~mmface.datasets.face_batch.FaceBatch`.

    Raises:
        ValueError: where an earlier transform left anything but uint8 ``[H, W, 3]``.
    """
    draws_from: frozenset[str] = frozenset()

    def transform(self, results: dict) -> dict:
        image = np.require(picture(results), requirements=['C', 'W'])
        fields = {name: torch.tensor([results[name]]) for name in FIELDS if name in results}
        return dict(inputs=torch.from_numpy(image).permute(2, 0, 1), data_samples=FaceDataSample(**fields))

    def pack_batch(self, size: int, results: Iterable[dict]) -> FaceBatch:
        """Packs ``size`` images together."""
        return FaceBatch.pack(size, results)

"""The last transform of every pipeline."""
import numpy as np
import torch
from mmcv.transforms import BaseTransform

from mmface.registry import TRANSFORMS
from mmface.structures import FaceDataSample


@TRANSFORMS.register_module()
class PackFace(BaseTransform):
    """Packs ``img``, ``sample_idx`` and, if any, ``gt_label`` into ``dict(inputs=uint8 [3, H, W] RGB, data_samples=FaceDataSample)``.

    ``inputs`` shares memory with ``img`` where that is contiguous: the copy into planes is made once, when the batch is stacked.

    Raises:
        ValueError: where an earlier transform left anything but uint8 ``[H, W, 3]``.
    """

    def transform(self, results: dict) -> dict:
        image = results['img']
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ValueError(f'PackFace needs uint8 [H, W, 3], got {image.dtype} {list(image.shape)}: the data_preprocessor normalises')
        fields = {name: torch.tensor([results[name]]) for name in ('gt_label', 'sample_idx') if name in results}
        return dict(inputs=torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1), data_samples=FaceDataSample(**fields))

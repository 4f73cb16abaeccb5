"""From a loose crop with landmarks to the aligned face."""
import warnings

import numpy as np
from mmcv.transforms import BaseTransform

from mmface.datasets.formats import DataFormatError, DataFormatWarning
from mmface.functional.geometry import MAX_RESIDUAL, landmark_template, rms_residual, similarity_transform, warp
from mmface.registry import TRANSFORMS


@TRANSFORMS.register_module()
class AlignFace(BaseTransform):
    """Cuts ``img`` out so that its ``landmarks``, ``[5, 2]`` pixels (x, y), lie on the template; see :mod:`mmface.functional.geometry`.

    For sets that come as loose crops with five points each (IJB-B, IJB-C). ``landmarks`` become those of the crop.

    Args:
        size: (height, width) of the crop, as in the model's ``data_preprocessor``.
        template: likewise.

    Raises:
        DataFormatError: naming file and record, for an image without landmarks, or for landmarks that coincide or are not finite.

    Warns:
        DataFormatWarning: the first time that landmarks do not look like a face; profiles are common in such sets.
    """
    draws_from: frozenset[str] = frozenset()

    def __init__(self, size: tuple[int, int] = (112, 112), template: str = 'arcface') -> None:
        self.size, self.target = tuple(size), landmark_template(size, template)
        self._warned = False

    def transform(self, results: dict) -> dict:
        landmarks = results.get('landmarks')
        if landmarks is None:
            raise DataFormatError(results['path'], results['where'], 'no landmarks',
                                  'AlignFace is for sets that have five an image; images that are aligned already need none of it')
        try:
            matrix = similarity_transform(landmarks, self.target)
        except ValueError as error:
            raise DataFormatError(results['path'], results['where'], str(error), 'leave the image out of the lists') from None
        residual = rms_residual(matrix, landmarks, self.target)
        if residual > MAX_RESIDUAL * self.size[0] and not self._warned:
            self._warned = True
            warnings.warn(
                DataFormatWarning(results['path'], results['where'], f'aligned, the landmarks are {residual:.1f} px off on average',
                                  'said of the first such image only; are they left eye, right eye, nose, left and right mouth corner?'),
                stacklevel=2)
        results['img'] = warp(results['img'], matrix, self.size)
        results['img_shape'] = self.size
        results['landmarks'] = np.asarray(landmarks, np.float64) @ matrix[:, :2].T + matrix[:, 2]
        return results

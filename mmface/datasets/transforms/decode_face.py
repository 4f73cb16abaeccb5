"""The first transform of every pipeline."""
from mmcv.transforms import BaseTransform

from mmface.datasets.decode import decode_image
from mmface.datasets.formats import DataFormatError
from mmface.registry import TRANSFORMS


@TRANSFORMS.register_module()
class DecodeFace(BaseTransform):
    """Decodes ``img_bytes`` into ``img``, uint8 ``[H, W, 3]`` RGB, and notes ``img_shape`` and ``ori_shape`` (height, width).

    The rules for grey, CMYK, 16-bit, alpha, palette and EXIF are those of :func:`decode_image`. From here on pictures are RGB.

    Raises:
        DataFormatError: naming file and record, where the bytes are no whole image.
    """

    def transform(self, results: dict) -> dict:
        try:
            image = decode_image(results.pop('img_bytes'))
        except ValueError as error:
            raise DataFormatError(results['path'], results['where'], str(error), 'replace or remove it') from None
        results['img'] = image
        results['img_shape'] = results['ori_shape'] = image.shape[:2]
        return results

"""The first transform of every pipeline."""
import warnings

from mmcv.transforms import BaseTransform

from mmface.datasets.decode import MAX_PIXELS, decode_image
from mmface.datasets.formats import DataFormatError, DataFormatWarning
from mmface.registry import TRANSFORMS


@TRANSFORMS.register_module()
class DecodeFace(BaseTransform):
    """Decodes ``img_bytes`` into ``img``, uint8 ``[H, W, 3]`` RGB, and notes ``img_shape`` and ``ori_shape`` (height, width).

    The rules for grey, CMYK, 16-bit, alpha, palette and EXIF are those of :func:`decode_image`. From here on pictures are RGB.

    Args:
        upright: whether to follow the EXIF orientation: for photos, not for packed sets and aligned crops.
        max_pixels: images whose header claims more are refused before they are decoded.

    Raises:
        DataFormatError: naming file and record, where the bytes are no whole image.

    Warns:
        DataFormatWarning: naming the same, for a single pixel, which some crawlers leave in place of a picture that was gone.
    """
    draws_from: frozenset[str] = frozenset()

    def __init__(self, upright: bool = False, max_pixels: int = MAX_PIXELS) -> None:
        self.upright, self.max_pixels = upright, max_pixels

    def transform(self, results: dict) -> dict:
        try:
            image = decode_image(results.pop('img_bytes'), upright=self.upright, max_pixels=self.max_pixels)
        except ValueError as error:
            raise DataFormatError(results['path'], results['where'], str(error), 'replace or remove it') from None
        shape = image.shape[:2]
        if shape == (1, 1):
            warnings.warn(DataFormatWarning(results['path'], results['where'], '1 x 1 pixel', 'a placeholder, not a face'), stacklevel=2)
        results['img'] = image
        results['img_shape'] = results['ori_shape'] = shape
        return results

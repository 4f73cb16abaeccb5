"""AdaFace's first augmentation: a part of the face on black."""
import math

import numpy as np
from mmcv.transforms import BaseTransform

from mmface.registry import TRANSFORMS


@TRANSFORMS.register_module()
class RandomCropInPlace(BaseTransform):
    """Keeps a random rectangle of ``img`` where it is and blackens the rest, so that the landmarks stay on the template.

    The rectangle is that of torchvision's ``RandomResizedCrop``: its area uniform in ``scale``, the logarithm of its aspect ratio uniform
    in that of ``ratio``; what does not fit is drawn again, ten times, then the largest central rectangle of a permitted ratio is taken.

    Kim, Jain & Liu, "AdaFace: Quality Adaptive Margin for Face Recognition", CVPR 2022; values as in
    https://github.com/mk-minchul/AdaFace/blob/0783a24/data.py, probability as in its training scripts.

    Args:
        prob: the probability that an image is cropped.
        scale: least and largest area, as a share of the image.
        ratio: least and largest width / height.
    """
    draws_from = frozenset({'numpy'})

    def __init__(self, prob: float = .2, scale: tuple[float, float] = (.2, 1.), ratio: tuple[float, float] = (3 / 4, 4 / 3)) -> None:
        self.prob, self.scale, self.ratio = prob, scale, ratio

    def transform(self, results: dict) -> dict:
        if np.random.random() < self.prob:
            image = results['img']
            top, left, height, width = self.draw(*image.shape[:2])
            part = slice(top, top + height), slice(left, left + width)
            results['img'] = np.zeros_like(image)
            results['img'][part] = image[part]
        return results

    def draw(self, height: int, width: int) -> tuple[int, int, int, int]:
        """A rectangle inside an image of that size: top, left, height, width."""
        for _ in range(10):
            area = height * width * np.random.uniform(*self.scale)
            ratio = math.exp(np.random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return np.random.randint(height - h + 1), np.random.randint(width - w + 1), h, w
        ratio = min(max(width / height, self.ratio[0]), self.ratio[1])
        w, h = min(width, round(height * ratio)), min(height, round(width / ratio))
        return (height - h) // 2, (width - w) // 2, h, w

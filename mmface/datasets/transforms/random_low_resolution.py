"""AdaFace's second augmentation: a face from far away."""
import cv2
import numpy as np
from mmcv.transforms import BaseTransform

from mmface.registry import TRANSFORMS

INTERPOLATIONS = (cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_AREA, cv2.INTER_CUBIC, cv2.INTER_LANCZOS4)


@TRANSFORMS.register_module()
class RandomLowResolution(BaseTransform):
    """Makes ``img`` smaller and large again, each with an interpolation drawn from nearest, linear, area, cubic and Lanczos.

    Kim, Jain & Liu, "AdaFace: Quality Adaptive Margin for Face Recognition", CVPR 2022; values as in
    https://github.com/mk-minchul/AdaFace/blob/0783a24/data.py, probability as in its training scripts. There the small image is a square of
    the height's share, which is the same for the paper's square faces; here each side shrinks by itself.

    Args:
        prob: the probability that an image loses its resolution.
        scale: least and largest side of the small image, as a share of the image's.
    """
    draws_from = frozenset({'numpy'})

    def __init__(self, prob: float = .2, scale: tuple[float, float] = (.2, 1.)) -> None:
        self.prob, self.scale = prob, scale

    def transform(self, results: dict) -> dict:
        if np.random.random() < self.prob:
            height, width = results['img'].shape[:2]
            share = np.random.uniform(*self.scale)
            down, up = (INTERPOLATIONS[at] for at in np.random.randint(len(INTERPOLATIONS), size=2))
            small = cv2.resize(results['img'], (max(1, int(share * width)), max(1, int(share * height))), interpolation=down)
            results['img'] = cv2.resize(small, (width, height), interpolation=up)
        return results

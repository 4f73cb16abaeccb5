"""AdaFace's third augmentation: another light and another camera."""
import cv2
import numpy as np
from mmcv.transforms import BaseTransform

from mmface.registry import TRANSFORMS


@TRANSFORMS.register_module()
class RandomPhotometric(BaseTransform):
    """Changes brightness, contrast and saturation of ``img``, in random order, each by a factor uniform in 1 +- its range.

    As the paper's code, which calls Pillow's functions through torchvision; to within one level a step. Grey weighs the red, green and blue
    of an RGB image; the paper's code hands the same functions BGR images under the name of RGB.

    Kim, Jain & Liu, "AdaFace: Quality Adaptive Margin for Face Recognition", CVPR 2022; values as in
    https://github.com/mk-minchul/AdaFace/blob/0783a24/data.py, probability as in its training scripts.

    Args:
        prob: the probability that an image is changed.
        brightness: range of the factor, 0 to 1.
        contrast, saturation: likewise.
    """
    draws_from = frozenset({'numpy'})

    def __init__(self, prob: float = .2, brightness: float = .5, contrast: float = .5, saturation: float = .5) -> None:
        self.prob = prob
        self.steps = ((change_brightness, brightness), (change_contrast, contrast), (change_saturation, saturation))

    def transform(self, results: dict) -> dict:
        if np.random.random() < self.prob:
            for at in np.random.permutation(len(self.steps)):
                change, spread = self.steps[at]
                results['img'] = change(results['img'], np.random.uniform(1 - spread, 1 + spread))
        return results


def change_brightness(image: np.ndarray, factor: float) -> np.ndarray:
    """uint8 RGB ``[H, W, 3]`` blended with black."""
    return _away_from(image, 0, factor)


def change_contrast(image: np.ndarray, factor: float) -> np.ndarray:
    """Likewise, blended with its mean grey."""
    return _away_from(image, int(cv2.mean(_grey(image))[0] + .5), factor)


def change_saturation(image: np.ndarray, factor: float) -> np.ndarray:
    """Likewise, blended with its grey picture (0.299 R + 0.587 G + 0.114 B)."""
    return cv2.addWeighted(image, factor, cv2.cvtColor(_grey(image), cv2.COLOR_GRAY2RGB), 1 - factor, 0)


def _grey(image: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)


def _away_from(image: np.ndarray, level: int, factor: float) -> np.ndarray:
    table = level + factor * (np.arange(256.) - level)
    return cv2.LUT(image, np.clip(table, 0, 255).astype(np.uint8))

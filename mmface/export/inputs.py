"""From RGB bytes to what a file takes."""
from collections.abc import Sequence

import numpy as np


def prepare_images(images: np.ndarray,
                   channels_first: bool,
                   color: str = 'RGB',
                   mean: Sequence[float] | None = None,
                   std: Sequence[float] | None = None,
                   dtype: type = np.uint8) -> np.ndarray:
    """Puts images into the form that a network in a file takes.

    Args:
        images: uint8 RGB [B, H, W, 3].
        channels_first: whether it takes [B, 3, H, W].
        color: ``'RGB'`` or ``'BGR'``, the order of the channels that it takes.
        mean: per channel, 0 ... 255, in that order; None where the file scales by itself.
        std: likewise.
        dtype: of the numbers that it takes.
    """
    pixels = images if color == 'RGB' else images[..., ::-1]
    if mean is not None and std is not None:
        pixels = (pixels.astype(np.float32) - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
    return np.ascontiguousarray(pixels.transpose(0, 3, 1, 2) if channels_first else pixels, dtype)

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
    if mean is None or std is None:
        return np.ascontiguousarray(pixels.transpose(0, 3, 1, 2) if channels_first else pixels, dtype)
    count, height, width, channels = images.shape
    inputs = np.empty((count, channels, height, width) if channels_first else images.shape, np.float32)
    for channel in range(channels):  # over long rows; to broadcast three means would run in steps of three
        target = inputs[:, channel] if channels_first else inputs[..., channel]
        np.copyto(target, pixels[..., channel])
        target -= np.float32(mean[channel])
        target /= np.float32(std[channel])
    return inputs.astype(dtype, copy=False)

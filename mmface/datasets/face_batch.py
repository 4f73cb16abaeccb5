"""A batch that is put together where the images are made."""
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import overload

import cv2
import numpy as np
import torch
from torch import Tensor

from mmface.structures import FaceDataSample

from .formats import DataFormatError

FIELDS = ('gt_label', 'sample_idx', 'source')  #: what is kept of an image beside its pixels, where it is there


class FaceBatch(Sequence):
    """B packed images whose pixels lie in one tensor: what a data set hands to the collate function when asked for a whole batch.

    As a sequence it is B items of ``PackFace``, so that any collate function works; ``face_collate`` takes the tensors as they are.

    Args:
        inputs: uint8 ``[B, 3, H, W]``, RGB.
        data_samples: of the batch, fields ``[B]``.
    """

    def __init__(self, inputs: Tensor, data_samples: FaceDataSample) -> None:
        self.inputs, self.data_samples = inputs, data_samples

    @classmethod
    def pack(cls, size: int, results: Iterable[dict]) -> 'FaceBatch':
        """Takes ``img``, uint8 ``[H, W, 3]``, and the ``FIELDS`` of ``size`` images, each as soon as it is made: it is still in the cache.

        Raises:
            DataFormatError: for images of different sizes; names the file.
            ValueError: for anything but such images.
        """
        results = iter(results)
        first = next(results)
        fields = [name for name in FIELDS if name in first]
        shape = picture(first).shape
        pixels = np.empty((size, 3, *shape[:2]), np.uint8)
        rows = []
        for planes, item in zip(pixels, chain([first], results), strict=True):
            image = picture(item)
            if image.shape != shape:
                raise _two_sizes(first, item)
            cv2.split(image, list(planes))  # several times faster than a transposed copy
            rows.append([item[name] for name in fields])
        columns = zip(fields, torch.tensor(rows, dtype=torch.int64).t().contiguous(), strict=True)
        return cls(torch.from_numpy(pixels), FaceDataSample(**dict(columns)))

    def __len__(self) -> int:
        return len(self.inputs)

    @overload
    def __getitem__(self, at: int) -> dict:
        ...

    @overload
    def __getitem__(self, at: slice) -> list[dict]:
        ...

    def __getitem__(self, at: int | slice) -> dict | list[dict]:
        if isinstance(at, slice):
            return [self[i] for i in range(len(self))[at]]
        at = range(len(self))[at]
        fields = {name: value[at:at + 1] for name, value in self.data_samples.items()}
        return dict(inputs=self.inputs[at], data_samples=FaceDataSample(**fields))


def picture(results: dict) -> np.ndarray:
    """The image that the transforms left, made sure to be uint8 ``[H, W, 3]``."""
    image = results['img']
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f'PackFace needs uint8 [H, W, 3], got {image.dtype} {list(image.shape)}: the data_preprocessor normalises')
    return image


def _two_sizes(first: dict, item: dict) -> DataFormatError:
    (height, width), (other_height, other_width) = item['img'].shape[:2], first['img'].shape[:2]
    return DataFormatError(
        item['path'], item['where'], f'{width} x {height} pixels', f'{first["where"]} in the same batch has {other_width} x '
        f'{other_height}: a batch needs one size, add dict(type="Resize", scale=(width, height)) to the pipeline')

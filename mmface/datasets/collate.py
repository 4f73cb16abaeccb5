"""From packed items to one batch, in the worker: two tensors cross to the main process instead of two an image."""
from collections.abc import Sequence

import torch

from mmface.registry import FUNCTIONS
from mmface.structures import FaceDataSample

from .face_batch import FaceBatch


@FUNCTIONS.register_module()
def face_collate(items: Sequence[dict]) -> dict:
    """Joins B items of ``PackFace``, which a :class:`FaceBatch` has done already.

    Returns:
        ``dict(inputs=uint8 [B, 3, H, W], data_samples=FaceDataSample)`` with fields ``[B]``.

    Raises:
        ValueError: for images of different sizes.
    """
    if isinstance(items, FaceBatch):
        return dict(inputs=items.inputs, data_samples=items.data_samples)
    images, samples = [item['inputs'] for item in items], [item['data_samples'] for item in items]
    for image, sample in zip(images, samples, strict=True):
        if image.shape != images[0].shape:
            raise ValueError(
                f'sample {samples[0].sample_idx.item()} has the shape {tuple(images[0].shape)}, sample {sample.sample_idx.item()} '
                f'{tuple(image.shape)}: a batch needs one size; add dict(type="Resize", scale=(width, height)) to the pipeline')
    return dict(inputs=torch.stack(images), data_samples=FaceDataSample.batch(samples))

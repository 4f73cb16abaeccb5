"""The one place that knows which colours and numbers the network eats."""
from collections.abc import Sequence

import torch
from mmengine.model import BaseDataPreprocessor
from torch import Tensor

from mmface.registry import MODELS
from mmface.structures import FaceDataSample


@MODELS.register_module()
class FaceDataPreprocessor(BaseDataPreprocessor):
    """Batches of RGB bytes to what the backbone eats: moved, put in colour order, ``(x - mean) / std``.

    Everything outside of it (files, pipelines, exported graphs' inputs) is RGB, 0 ... 255. Its attributes travel with the model: into the
    exported file and every report.

    Args:
        mean, std: per channel, in the order of ``color``, for values 0 ... 255.
        color: the order in which the network expects channels, ``'RGB'`` or ``'BGR'``.
        size: (height, width) of the images in pixels.
        template: name of the landmark template to which faces are aligned (``mmface.functional.geometry``).
        channels_last: whether the backbone gets its images in that memory format: the same numbers, on many machines sooner.
    """

    def __init__(self,
                 mean: Sequence[float] = (127.5, 127.5, 127.5),
                 std: Sequence[float] = (127.5, 127.5, 127.5),
                 color: str = 'RGB',
                 size: tuple[int, int] = (112, 112),
                 template: str = 'arcface',
                 channels_last: bool = False,
                 non_blocking: bool = True) -> None:
        super().__init__(non_blocking)
        if len(mean) != 3 or len(std) != 3 or not all(value > 0 for value in std):
            raise ValueError(f'FaceDataPreprocessor: mean and std need three numbers each, std greater than 0; got {mean} and {std}')
        if color not in ('RGB', 'BGR'):
            raise ValueError(f"FaceDataPreprocessor: color is 'RGB' or 'BGR', got {color!r}")
        self.mean, self.std, self.color, self.size, self.template = tuple(mean), tuple(std), color, tuple(size), template
        self.memory_format = torch.channels_last if channels_last else torch.contiguous_format
        self.register_buffer('_mean', torch.tensor(self.mean, dtype=torch.float32).view(3, 1, 1), persistent=False)
        self.register_buffer('_std', torch.tensor(self.std, dtype=torch.float32).view(3, 1, 1), persistent=False)

    def forward(self, data: dict, training: bool = False) -> dict:
        """Prepares a batch.

        Args:
            data: ``inputs``, uint8 ``[B, 3, H, W]`` or a list of ``[3, H, W]``, RGB; ``data_samples``, a batch of
                :class:`FaceDataSample`, a list of them, or absent.
            training: unused; the same is done in training and in testing.

        Returns:
            ``inputs``, float ``[B, 3, H, W]``; ``data_samples``, one batched sample or None.

        Raises:
            ValueError: where the images are not RGB of the model's size.
        """
        data = self.cast_data(data)
        inputs, samples = data['inputs'], data.get('data_samples')
        inputs = inputs if isinstance(inputs, Tensor) else torch.stack(tuple(inputs))
        if inputs.shape[1:] != (3, *self.size):
            raise ValueError(f'the model eats RGB images of {self.size[0]} x {self.size[1]} (height x width), so [B, 3, {self.size[0]}, '
                             f'{self.size[1]}]; got {list(inputs.shape)}: resize in the pipeline or set data_preprocessor.size')
        return dict(inputs=self.normalize(inputs), data_samples=None if samples is None else FaceDataSample.batch(samples))

    def normalize(self, images: Tensor) -> Tensor:
        """RGB ``[B, 3, H, W]``, 0 ... 255, any dtype, to the floats that the backbone eats."""
        images = images.flip(1) if self.color == 'BGR' else images
        floats = images.to(self._mean.dtype, copy=True)  # then in place: fresh memory for each step would take twice the time
        return floats.sub_(self._mean).div_(self._std).contiguous(memory_format=self.memory_format)

"""SCF's second stage (Li et al., CVPR 2021): a frozen network learns how sure it is of each image."""
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from mmface.functional.unit import unit
from mmface.registry import MODELS
from mmface.structures import FaceDataSample

from .face_cls_head import FaceClsHead


@MODELS.register_module()
class SCFHead(FaceClsHead):
    """Learns the concentration kappa of an image's embedding from its feature map; backbone, neck and prototypes get no gradient.

    The embedding's direction and kappa are the parameters of a von Mises-Fisher distribution around the prototype; see
    :class:`~mmface.models.SCFLoss`. Load the first stage's checkpoint: its prototypes have the name and shape of these.

    Args:
        num_classes: C, of the first stage.
        in_channels: D, the embedding size.
        feat_channels: the number of values in a flattened feature map: 25,088 for an IResNet at 112 x 112.
        hidden: sizes of the layers between feature map and log kappa; by default a half and a quarter of ``feat_channels``, as published.
        radius: of the sphere of the prototypes.
        **kwargs: of :class:`~mmface.models.FaceClsHead`, without ``loss``.

    Attributes:
        log_kappa: the layers.
    """
    needs_feature_map = True

    def __init__(self,
                 num_classes: int,
                 in_channels: int,
                 feat_channels: int = 25088,
                 hidden: Sequence[int] | None = None,
                 radius: float = 64.,
                 **kwargs: Any) -> None:
        super().__init__(num_classes, in_channels, loss=dict(type='SCFLoss', dim=in_channels, radius=radius), **kwargs)
        if feat_channels < 4:
            raise ValueError(f'SCFHead: feat_channels must be at least 4, got {feat_channels}')
        self.weight.requires_grad_(False)
        sizes = (feat_channels, *((feat_channels // 2, feat_channels // 4) if hidden is None else hidden))
        layers = [layer for sizes in pairwise(sizes) for layer in (nn.Linear(*sizes), nn.ReLU(inplace=True))]
        self.log_kappa = nn.Sequential(*layers, nn.Linear(sizes[-1], 1))

    def kappa(self, feature_map: Tensor) -> Tensor:
        """The concentrations ``[B]``, > 0, at least fp32, of feature maps ``[B, ...]`` (which get no gradient)."""
        log_kappa = self.log_kappa(feature_map.detach().flatten(1)).squeeze(1)
        return log_kappa.to(torch.promote_types(log_kappa.dtype, torch.float32)).exp()

    def loss(self, embeddings: Tensor, data_samples: FaceDataSample, feature_map: Tensor) -> dict[str, Tensor]:
        kappa = self.kappa(feature_map)
        direction, _ = unit(embeddings.detach().to(kappa.dtype))
        losses = super().loss(direction * kappa.unsqueeze(1), data_samples)
        return dict(losses, kappa=kappa.detach().mean())

    def predict(self, data_samples: FaceDataSample, feature_map: Tensor) -> FaceDataSample:
        """Adds ``kappa`` ``[B]`` to a batch of predictions: the higher, the surer."""
        data_samples.kappa = self.kappa(feature_map)
        return data_samples

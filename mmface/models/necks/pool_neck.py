"""The embedding layer of general-purpose networks and of FaceNet's Inception-ResNet: mean, dropout, FC, BN."""
from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS

from ..low_rank_linear import LowRankLinear


@MODELS.register_module()
class PoolNeck(BaseModule):
    """Feature map ``[B, in_channels, h, w]`` or vectors ``[B, in_channels]`` to embedding ``[B, out_channels]``, not normalised.

    The map may have any size.

    Args:
        in_channels: channels of the map.
        out_channels: D, the embedding size.
        dropout: probability before the FC layer, in [0, 1).
        bias: whether the FC layer has one.
        norm: whether a batch norm follows.
        eps: of the batch norm.
        rank_ratio: factors the FC layer through fewer dimensions, see :class:`~mmface.models.EdgeFace`; None keeps it whole.
    """

    def __init__(self,
                 in_channels: int,
                 out_channels: int = 512,
                 dropout: float = 0.,
                 bias: bool = False,
                 norm: bool = True,
                 eps: float = 1e-5,
                 rank_ratio: float | None = None,
                 init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        self.dropout = nn.Dropout(dropout)
        self.fc = (nn.Linear(in_channels, out_channels, bias=bias) if rank_ratio is None else
                   LowRankLinear(in_channels, out_channels, rank_ratio, bias))
        self.norm = nn.BatchNorm1d(out_channels, eps) if norm else nn.Identity()

    def forward(self, feature_map: Tensor) -> Tensor:
        pooled = feature_map.reshape(*feature_map.shape[:2], -1).mean(2)
        return self.norm(self.fc(self.dropout(pooled)))

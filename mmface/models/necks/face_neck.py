"""The embedding layer of ArcFace ("option E"): BN, dropout, flatten, FC, BN."""
from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS


@MODELS.register_module()
class FaceNeck(BaseModule):
    """Feature map ``[B, in_channels, h, w]`` to embedding ``[B, out_channels]``, not normalised.

    Args:
        in_channels: channels of the map.
        feat_size: (h, w) of the map, or one number for both: 7 for 112 x 112 images and stride 16.
        out_channels: D, the embedding size.
        dropout: probability before the FC layer, in [0, 1).
        affine: whether the last batch norm has a trained shift and a gain of one; neither where false.
        eps: of both batch norms.
    """

    def __init__(self,
                 in_channels: int = 512,
                 feat_size: int | tuple[int, int] = 7,
                 out_channels: int = 512,
                 dropout: float = 0.,
                 affine: bool = True,
                 eps: float = 1e-5,
                 init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        height, width = (feat_size, feat_size) if isinstance(feat_size, int) else feat_size
        self.map_norm = nn.BatchNorm2d(in_channels, eps)
        self.dropout = nn.Dropout(dropout, inplace=True)
        self.fc = nn.Linear(in_channels * height * width, out_channels)
        self.norm = nn.BatchNorm1d(out_channels, eps, affine=affine)
        if affine:
            # A learned gain would be a scale of the embedding, which every loss on the sphere divides out again.
            self.norm.weight.requires_grad = False

    def forward(self, feature_map: Tensor) -> Tensor:
        return self.norm(self.fc(self.dropout(self.map_norm(feature_map)).flatten(1)))

"""The embedding layer of MobileFaceNet (Chen et al., CCBR 2018): a global depthwise convolution and a linear map."""
import math

from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS


@MODELS.register_module()
class GDCNeck(BaseModule):
    """Feature map ``[B, in_channels, h, w]`` to embedding ``[B, out_channels]``, not normalised.

    Args:
        in_channels: channels of the map.
        feat_size: (h, w) of the map, or one number for both.
        out_channels: D, the embedding size.
        bias: whether the linear map has one.
        affine: whether the last batch norm has a trained gain and shift.
    """

    def __init__(self,
                 in_channels: int = 512,
                 feat_size: int | tuple[int, int] = 7,
                 out_channels: int = 128,
                 bias: bool = False,
                 affine: bool = True,
                 init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        self.pool = nn.Conv2d(in_channels, in_channels, feat_size, groups=in_channels, bias=False)
        self.pool_norm = nn.BatchNorm2d(in_channels)
        self.fc = nn.Linear(in_channels, out_channels, bias=bias)
        self.norm = nn.BatchNorm1d(out_channels, affine=affine)
        nn.init.normal_(self.pool.weight, 0, math.sqrt(2 / (in_channels * math.prod(self.pool.kernel_size))))
        nn.init.normal_(self.fc.weight, 0, math.sqrt(2 / out_channels))

    def forward(self, feature_map: Tensor) -> Tensor:
        return self.norm(self.fc(self.pool_norm(self.pool(feature_map)).flatten(1)))

"""MobileFaceNet (Chen et al., CCBR 2018): a million parameters, real time on a phone."""
import math

from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS

#: (expansion, channels, units, stride of the first unit): the paper's table 1.
STAGES = ((2, 64, 5, 2), (4, 128, 1, 2), (2, 128, 6, 1), (4, 128, 1, 2), (2, 128, 2, 1))


def conv_bn(in_channels: int, channels: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """A convolution that keeps the size (up to its stride), and its batch norm."""
    return [nn.Conv2d(in_channels, channels, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(channels)]


class Bottleneck(nn.Sequential):
    """Inverted residual with PReLU: 1 x 1 up, 3 x 3 depthwise, 1 x 1 down without activation; plus the input where the shapes allow."""

    def __init__(self, in_channels: int, channels: int, stride: int, expansion: int) -> None:
        inner = in_channels * expansion
        super().__init__(*conv_bn(in_channels, inner, 1), nn.PReLU(inner), *conv_bn(inner, inner, 3, stride, groups=inner), nn.PReLU(inner),
                         *conv_bn(inner, channels, 1))
        self.residual = stride == 1 and in_channels == channels

    def forward(self, x: Tensor) -> Tensor:
        out = super().forward(x)
        return out + x if self.residual else out


@MODELS.register_module()
class MobileFaceNet(BaseModule):
    """Images ``[B, 3, H, W]`` to a feature map ``[B, out_channels, H / 16, W / 16]``, so 7 x 7 for 112 x 112.

    The paper's global depthwise convolution and its embedding are :class:`~mmface.models.GDCNeck`.

    Args:
        width: multiplies the channels of every layer but the last (1 is the paper's network).
        out_channels: channels of the feature map.
        stem_stride: 2 is the paper's; 1 keeps the map's size for images of half the side.
    """

    def __init__(self, width: float = 1., out_channels: int = 512, stem_stride: int = 2, init_cfg: dict | None = None) -> None:
        super().__init__(init_cfg)
        stem = round(64 * width)
        if stem < 1:
            raise ValueError(f'MobileFaceNet: width {width} leaves no channel')
        self.stem = nn.Sequential(*conv_bn(3, stem, 3, stem_stride), nn.PReLU(stem), *conv_bn(stem, stem, 3, groups=stem), nn.PReLU(stem))
        units, in_channels = [], stem
        for expansion, channels, count, stride in STAGES:
            for unit in range(count):
                units.append(Bottleneck(in_channels, round(channels * width), stride if unit == 0 else 1, expansion))
                in_channels = round(channels * width)
        self.stages = nn.Sequential(*units)
        self.last = nn.Sequential(*conv_bn(in_channels, out_channels, 1), nn.PReLU(out_channels))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, 0, math.sqrt(2 / (module.out_channels * math.prod(module.kernel_size))))

    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (self.last(self.stages(self.stem(x))), )

"""MobileFaceNet (Chen et al., CCBR 2018): a million parameters, real time on a phone."""
import math

from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS


def conv_bn(in_channels: int, channels: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """A convolution that keeps the size (up to its stride), and its batch norm."""
    return [nn.Conv2d(in_channels, channels, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(channels)]


class Bottleneck(nn.Sequential):
    """Inverted residual: 1 x 1 up, 3 x 3 depthwise, 1 x 1 down without activation; plus the input where the shapes allow."""

    def __init__(self, in_channels: int, inner: int, channels: int, stride: int, relu6: bool) -> None:
        super().__init__(*conv_bn(in_channels, inner, 1), activation(inner, relu6), *conv_bn(inner, inner, 3, stride, groups=inner),
                         activation(inner, relu6), *conv_bn(inner, channels, 1))
        self.residual = stride == 1 and in_channels == channels

    def forward(self, x: Tensor) -> Tensor:
        out = super().forward(x)
        return out + x if self.residual else out


def activation(channels: int, relu6: bool) -> nn.Module:
    """PReLU with a slope for each channel, or ReLU6."""
    return nn.ReLU6() if relu6 else nn.PReLU(channels)


@MODELS.register_module()
class MobileFaceNet(BaseModule):
    """Images ``[B, 3, H, W]`` to a feature map ``[B, out_channels, H / 16, W / 16]``, rounded up: 7 x 7 for 112 x 112.

    The paper's global depthwise convolution and its embedding are :class:`~mmface.models.GDCNeck`. As it stands it is the paper's table 1;
    ``docs/backbones.md`` says which switches read whose checkpoint.

    Args:
        width: multiplies the channels of every layer but the last (1 is the paper's network).
        out_channels: channels of the feature map.
        stem_stride: 2 is the paper's; 1 keeps the map's size for images of half the side.
        inner_width: multiplies the channels inside the bottlenecks, and the groups of the stem's depthwise convolution; ``width`` where
            None. InsightFace's network has a ``width`` of 2 and an ``inner_width`` of 1.
        units: bottlenecks in the stages of stride 4, 8 and 16.
        stem_units: bottlenecks in the place of the stem's depthwise convolution; 0 keeps that.
        separable_stem: whether a convolution 1 x 1 follows the stem's depthwise convolution, both with ReLU.
        relu6: ReLU6 in place of PReLU.
        init_cfg: MMEngine's; convolutions are drawn with the deviation sqrt(2 / fan out) where it says nothing.
    """

    def __init__(self,
                 width: float = 1.,
                 out_channels: int = 512,
                 stem_stride: int = 2,
                 inner_width: float | None = None,
                 units: tuple[int, int, int] = (5, 6, 2),
                 stem_units: int = 0,
                 separable_stem: bool = False,
                 relu6: bool = False,
                 init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        inner_width = width if inner_width is None else inner_width
        stem, groups = round(64 * width), round(64 * inner_width)
        if stem < 1 or groups < 1:
            raise ValueError(f'MobileFaceNet: width {width} with inner_width {inner_width} leaves no channel')
        if stem % groups and not stem_units:
            raise ValueError(f'MobileFaceNet: width {width} must be a multiple of inner_width {inner_width}')
        self.stem = nn.Sequential(*conv_bn(3, stem, 3, stem_stride), activation(stem, relu6))
        if stem_units:
            self.stem.extend(Bottleneck(stem, 2 * groups, stem, 1, relu6) for _ in range(stem_units))
        elif separable_stem:
            self.stem.extend([*conv_bn(stem, stem, 3, groups=groups), nn.ReLU(), *conv_bn(stem, stem, 1), nn.ReLU()])
        else:
            self.stem.extend([*conv_bn(stem, stem, 3, groups=groups), activation(stem, relu6)])
        # (expansion, channels, units, stride of the first unit): the paper's table 1, where `units` says nothing else.
        table = ((2, 64, units[0], 2), (4, 128, 1, 2), (2, 128, units[1], 1), (4, 128, 1, 2), (2, 128, units[2], 1))
        stages, before = [], 64
        for expansion, channels, count, stride in table:
            for unit in range(count):
                stages.append(Bottleneck(round(before * width), expansion * round(before * inner_width), round(channels * width),
                                         stride if unit == 0 else 1, relu6))
                before = channels
        self.stages = nn.Sequential(*stages)
        self.last = nn.Sequential(*conv_bn(round(before * width), out_channels, 1), activation(out_channels, relu6))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, 0, math.sqrt(2 / (module.out_channels * math.prod(module.kernel_size))))

    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (self.last(self.stages(self.stem(x))), )

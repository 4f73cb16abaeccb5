"""IResNet: the residual network of face recognition (ArcFace, CVPR 2019; improved residual units, Han et al. 2017)."""
from mmengine.model import BaseModule
from mmpretrain.models.utils import SELayer
from torch import Tensor, nn

from mmface.registry import MODELS

#: Residual units in each of the four stages, by depth and kind of unit.
DEPTHS = {
    'basic': {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 14, 3), 100: (3, 13, 30, 3), 152: (3, 8, 36, 3), 200: (6, 26, 60, 6)},
    'bottleneck': {152: (3, 8, 36, 3), 200: (3, 24, 36, 3)},
}


class IRUnit(nn.Module):
    """BN, conv 3 x 3, BN, PReLU, conv 3 x 3 (stride), BN, SE; plus the input, brought to the same shape."""

    def __init__(self, in_channels: int, channels: int, stride: int, se: bool, mid_norm: bool, subsample_shortcut: bool) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(in_channels)
        self.conv1 = nn.Conv2d(in_channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels) if mid_norm else nn.Identity()
        self.prelu = nn.PReLU(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride=stride, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(channels)
        self.se = squeeze_excite(channels) if se else nn.Identity()
        self.downsample = shortcut(in_channels, channels, stride, subsample_shortcut)

    def forward(self, x: Tensor) -> Tensor:
        out = self.prelu(self.bn2(self.conv1(self.bn1(x))))
        return self.se(self.bn3(self.conv2(out))) + self.downsample(x)


class IRBottleneck(nn.Module):
    """BN, conv 1 x 1 to a quarter, BN, PReLU, conv 3 x 3, BN, PReLU, conv 1 x 1 (stride), BN, SE; plus the input, as :class:`IRUnit`."""

    def __init__(self, in_channels: int, channels: int, stride: int, se: bool, mid_norm: bool, subsample_shortcut: bool) -> None:
        super().__init__()
        inner = channels // 4
        self.bn1 = nn.BatchNorm2d(in_channels)
        self.conv1 = nn.Conv2d(in_channels, inner, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(inner) if mid_norm else nn.Identity()
        self.prelu = nn.PReLU(inner)
        self.conv2 = nn.Conv2d(inner, inner, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(inner) if mid_norm else nn.Identity()
        self.prelu2 = nn.PReLU(inner)
        self.conv3 = nn.Conv2d(inner, channels, 1, stride=stride, bias=False)
        self.bn4 = nn.BatchNorm2d(channels)
        self.se = squeeze_excite(channels) if se else nn.Identity()
        self.downsample = shortcut(in_channels, channels, stride, subsample_shortcut)

    def forward(self, x: Tensor) -> Tensor:
        out = self.prelu(self.bn2(self.conv1(self.bn1(x))))
        out = self.prelu2(self.bn3(self.conv2(out)))
        return self.se(self.bn4(self.conv3(out))) + self.downsample(x)


def squeeze_excite(channels: int) -> nn.Module:
    """Each channel times a number in (0, 1) that depends on the mean of all; without biases, as the published networks have it."""
    return SELayer(channels, ratio=16, divisor=1, bias=False)


def shortcut(in_channels: int, channels: int, stride: int, subsample: bool) -> nn.Module:
    """What brings a unit's input to the shape of its output."""
    if in_channels != channels or (stride != 1 and not subsample):
        return nn.Sequential(nn.Conv2d(in_channels, channels, 1, stride=stride, bias=False), nn.BatchNorm2d(channels))
    return nn.Identity() if stride == 1 else nn.MaxPool2d(1, stride)


@MODELS.register_module()
class IResNet(BaseModule):
    """Images ``[B, 3, H, W]`` to a feature map ``[B, out_channels, H / 16, W / 16]``, rounded up: 7 x 7 for 112 x 112.

    The families that are published differ in the switches; without any it is InsightFace's ``iresnet``, up to its last batch norm: that
    one, dropout, FC and BN are :class:`~mmface.models.FaceNeck`. ``docs/backbones.md`` says which switches read whose checkpoint.

    Args:
        depth: 18, 34, 50, 100, 152 or 200.
        se: whether each unit ends in squeeze-and-excitation (Hu et al., CVPR 2018), to a sixteenth of the channels.
        bottleneck: units of three convolutions and 2048 channels in place of two and 512; for depths 152 and 200.
        mid_norm: whether there is a batch norm between a convolution and its PReLU inside the units.
        subsample_shortcut: where a unit changes the map's size but not its channels (the first one), whether the shortcut picks every
            second position, without weights, in place of a convolution and a batch norm.
        eps: of every batch norm.
        init_cfg: MMEngine's; convolutions are drawn from N(0, 0.1) where it says nothing.

    Attributes:
        out_channels: channels of the feature map: 512, or 2048 with ``bottleneck``.
    """

    def __init__(self,
                 depth: int = 50,
                 se: bool = False,
                 bottleneck: bool = False,
                 mid_norm: bool = True,
                 subsample_shortcut: bool = False,
                 eps: float = 1e-5,
                 init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        unit, depths, widen = (IRBottleneck, DEPTHS['bottleneck'], 4) if bottleneck else (IRUnit, DEPTHS['basic'], 1)
        if depth not in depths:
            raise ValueError(f'IResNet: depth must be one of {sorted(depths)}{" with bottleneck=True" if bottleneck else ""}, got {depth}')
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.prelu = nn.PReLU(64)
        in_channels = 64
        for stage, (count, base) in enumerate(zip(depths[depth], (64, 128, 256, 512), strict=True), 1):
            channels = base * widen
            units = [unit(in_channels, channels, 2, se, mid_norm, subsample_shortcut)]
            units += [unit(channels, channels, 1, se, mid_norm, subsample_shortcut) for _ in range(count - 1)]
            self.add_module(f'layer{stage}', nn.Sequential(*units))
            in_channels = channels
        self.out_channels = in_channels
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, 0, 0.1)
            elif isinstance(module, nn.BatchNorm2d):
                module.eps = eps

    def forward(self, x: Tensor) -> tuple[Tensor]:
        x = self.prelu(self.bn1(self.conv1(x)))
        return (self.layer4(self.layer3(self.layer2(self.layer1(x)))), )

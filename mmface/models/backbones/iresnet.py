"""IResNet: the residual network of face recognition (ArcFace, CVPR 2019; improved residual units, Han et al. 2017)."""
from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS

#: Residual units in each of the four stages.
DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 14, 3), 100: (3, 13, 30, 3), 200: (6, 26, 60, 6)}


class IRUnit(nn.Module):
    """BN, conv 3 x 3, BN, PReLU, conv 3 x 3 (stride), BN; plus the input, through conv 1 x 1 and BN where its shape differs."""

    def __init__(self, in_channels: int, channels: int, stride: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(in_channels)
        self.conv1 = nn.Conv2d(in_channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.prelu = nn.PReLU(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride=stride, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(channels)
        self.downsample: nn.Module = nn.Identity()
        if stride != 1 or in_channels != channels:
            self.downsample = nn.Sequential(nn.Conv2d(in_channels, channels, 1, stride=stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        out = self.prelu(self.bn2(self.conv1(self.bn1(x))))
        return self.bn3(self.conv2(out)) + self.downsample(x)


@MODELS.register_module()
class IResNet(BaseModule):
    """Images ``[B, 3, H, W]`` to a feature map ``[B, 512, H / 16, W / 16]``, so 7 x 7 for 112 x 112.

    The same computation as the network that InsightFace publishes, up to its last batch norm: that one, dropout, FC and BN are
    :class:`~mmface.models.FaceNeck`.

    Args:
        depth: 18, 34, 50, 100 or 200.
    """

    def __init__(self, depth: int = 50, init_cfg: dict | None = None) -> None:
        super().__init__(init_cfg)
        if depth not in DEPTHS:
            raise ValueError(f'IResNet: depth must be one of {sorted(DEPTHS)}, got {depth}')
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.prelu = nn.PReLU(64)
        in_channels = 64
        for stage, (units, channels) in enumerate(zip(DEPTHS[depth], (64, 128, 256, 512), strict=True), 1):
            self.add_module(f'layer{stage}', nn.Sequential(
                *[IRUnit(in_channels if unit == 0 else channels, channels, 2 if unit == 0 else 1) for unit in range(units)]))
            in_channels = channels
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, 0, 0.1)

    def forward(self, x: Tensor) -> tuple[Tensor]:
        x = self.prelu(self.bn1(self.conv1(x)))
        return (self.layer4(self.layer3(self.layer2(self.layer1(x)))), )

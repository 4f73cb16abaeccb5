"""Inception-ResNet-v1 (Szegedy et al., AAAI 2017), as FaceNet's reimplementations use it for faces."""
import torch
from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS

#: Branches of the residual units and of the two reductions: (channels, kernel, stride) of their convolutions, one after the other.
UNIT35 = (((32, 1, 1), ), ((32, 1, 1), (32, 3, 1)), ((32, 1, 1), (32, 3, 1), (32, 3, 1)))
UNIT17 = (((128, 1, 1), ), ((128, 1, 1), (128, (1, 7), 1), (128, (7, 1), 1)))
UNIT8 = (((192, 1, 1), ), ((192, 1, 1), (192, (1, 3), 1), (192, (3, 1), 1)))
REDUCTION1 = (((384, 3, 2), ), ((192, 1, 1), (192, 3, 1), (256, 3, 2)))
REDUCTION2 = (((256, 1, 1), (384, 3, 2)), ((256, 1, 1), (256, 3, 2)), ((256, 1, 1), (256, 3, 1), (256, 3, 2)))


def conv(in_channels: int, channels: int, kernel: int | tuple[int, int], stride: int = 1, pad: bool = False) -> nn.Sequential:
    """Convolution, BN, ReLU; keeps the map's size where ``pad`` is set, else without padding."""
    height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = (height // 2, width // 2) if pad else (0, 0)
    return nn.Sequential(nn.Conv2d(in_channels, channels, kernel, stride, padding, bias=False), nn.BatchNorm2d(channels, 1e-3), nn.ReLU())


class Branches(nn.ModuleList):
    """Chains of convolutions side by side, padded where the stride is 1; their maps are stacked by channel."""

    def __init__(self, in_channels: int, chains: tuple) -> None:
        super().__init__()
        for layers in chains:
            chain, channels = nn.Sequential(), in_channels
            for out_channels, kernel, stride in layers:
                chain.append(conv(channels, out_channels, kernel, stride, pad=stride == 1))
                channels = out_channels
            self.append(chain)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self], 1)


class ScaledResidual(nn.Module):
    """The input plus ``scale`` times a 1 x 1 projection of what the branches see; then ReLU, or nothing."""

    def __init__(self, channels: int, chains: tuple, scale: float, relu: bool = True) -> None:
        super().__init__()
        self.branches = Branches(channels, chains)
        self.project = nn.Conv2d(sum(layers[-1][0] for layers in chains), channels, 1)
        self.scale = scale
        self.act = nn.ReLU() if relu else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(x + self.scale * self.project(self.branches(x)))


class Reduction(Branches):
    """Branches that halve the map, and a maximum pooling beside them."""

    def __init__(self, in_channels: int, chains: tuple) -> None:
        super().__init__(in_channels, chains)
        self.append(nn.MaxPool2d(3, 2))


@MODELS.register_module()
class InceptionResNet(BaseModule):
    """Images ``[B, 3, H, W]`` to a feature map ``[B, 1792, h, w]``: 3 x 3 for 160 x 160 and for 144 x 144, 2 x 2 for 112 x 112.

    The embedding is :class:`~mmface.models.PoolNeck`, with ``dropout=0.6, eps=1e-3`` in FaceNet's reimplementations. The P2SGrad paper
    trains an "Inception-ResNet" on 144 x 144 and does not say which; this is the one whose face checkpoints are public. Sides below 75 are
    too small for its unpadded convolutions.

    Args:
        init_cfg: MMEngine's; the convolutions have PyTorch's initial weights where it says nothing.
    """

    out_channels = 1792

    def __init__(self, init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        self.stem = nn.Sequential(conv(3, 32, 3, 2), conv(32, 32, 3), conv(32, 64, 3, pad=True), nn.MaxPool2d(3, 2), conv(64, 80, 1),
                                  conv(80, 192, 3), conv(192, 256, 3, 2))
        self.stage1 = nn.Sequential(*[ScaledResidual(256, UNIT35, .17) for _ in range(5)])
        self.reduction1 = Reduction(256, REDUCTION1)
        self.stage2 = nn.Sequential(*[ScaledResidual(896, UNIT17, .1) for _ in range(10)])
        self.reduction2 = Reduction(896, REDUCTION2)
        self.stage3 = nn.Sequential(*[ScaledResidual(1792, UNIT8, .2) for _ in range(5)], ScaledResidual(1792, UNIT8, 1., relu=False))

    def forward(self, x: Tensor) -> tuple[Tensor]:
        x = self.reduction1(self.stage1(self.stem(x)))
        return (self.stage3(self.reduction2(self.stage2(x))), )

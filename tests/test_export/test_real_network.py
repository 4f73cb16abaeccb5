"""A network of others, as weights and as a frozen file: what annotate.py writes computes what the weights compute."""
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mmface.apis import OnnxEmbedder
from mmface.export.annotate import annotate_onnx

MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


def conv(*shape: int, groups: int = 1, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(*shape, stride, padding=shape[2] // 2, groups=groups, bias=False)


def conv_bn_relu(*shape: int, **options: int) -> nn.Sequential:
    return nn.Sequential(conv(*shape, **options), nn.BatchNorm2d(shape[1]), nn.ReLU6())


class InvertedResidual(nn.Module):
    """Wide, by channel, narrow; MobileNetV2 (Sandler et al., CVPR 2018)."""

    def __init__(self, inside: int, outside: int, stride: int, factor: int) -> None:
        super().__init__()
        wide, self.residual = inside * factor, stride == 1 and inside == outside
        self.conv = nn.Sequential(conv_bn_relu(inside, wide, 1), conv_bn_relu(wide, wide, 3, groups=wide, stride=stride),
                                  conv(wide, outside, 1), nn.BatchNorm2d(outside))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.residual else self.conv(x)


class Separable(nn.Module):

    def __init__(self) -> None:
        super().__init__()
        self.depthwise, self.pointwise = conv(64, 64, 3, groups=64), conv(64, 64, 1)
        self.bn1, self.bn2 = nn.BatchNorm2d(64), nn.BatchNorm2d(64)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn2(self.pointwise(self.bn1(self.depthwise(x)).relu())).relu()


class Pool(nn.Module):

    def __init__(self) -> None:
        super().__init__()
        self.depthwise, self.bn = nn.Conv2d(512, 512, 7, groups=512, bias=False), nn.BatchNorm2d(512)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.depthwise(x))


class PublishedMobileFaceNet(nn.Module):
    """MobileFaceNets (Chen et al., CCBR 2018) with ReLU6 in the place of PReLU and 2, 4, 2, 4, 2 for its table of factors."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.dw_conv = conv_bn_relu(3, 64, 3, stride=2), Separable()
        blocks, inside = [], 64
        for factor, outside, count, stride in ((2, 64, 5, 2), (4, 128, 1, 2), (2, 128, 6, 1), (4, 128, 1, 2), (2, 128, 2, 1)):
            for at in range(count):
                blocks.append(InvertedResidual(inside, outside, 1 if at else stride, factor))
                inside = outside
        self.features = nn.Sequential(*blocks)
        self.conv2, self.gdconv = conv_bn_relu(128, 512, 1), Pool()
        self.conv3, self.bn = nn.Conv2d(512, 128, 1), nn.BatchNorm2d(128)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.conv3(self.gdconv(self.conv2(self.features(self.dw_conv(self.conv1(x))))))).flatten(1)


@pytest.fixture(scope='module')
def network(shared):
    network = PublishedMobileFaceNet()
    network.load_state_dict(torch.load(shared / 'models/mobilefacenet.pt', map_location='cpu', weights_only=True))
    return network.eval()


@pytest.mark.parametrize('batch', [1, 2, 7])
def test_the_annotated_file_gives_what_the_weights_give(shared, network, real_crops, tmp_path, batch):
    annotate_onnx(shared / 'models/mobilefacenet.onnx', tmp_path / 'ours.onnx', mean=MEAN, std=STD, color='RGB', size=(112, 112))
    inputs = ((real_crops.astype(np.float64) - MEAN) / STD).transpose(0, 3, 1, 2).astype(np.float32)
    with torch.no_grad():
        expected = network(torch.from_numpy(inputs)).numpy()
    embedder = OnnxEmbedder(tmp_path / 'ours.onnx')
    found = np.concatenate([embedder.embed(real_crops[at:at + batch]) for at in range(0, len(real_crops), batch)])
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()

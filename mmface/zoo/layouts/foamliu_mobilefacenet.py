"""The MobileFaceNet that was made from torchvision's MobileNetV2 (foamliu/MobileFaceNet and its copies)."""
import re

from torch import Tensor

from .layout import Layout, State

_UNIT = re.compile(r'features\.(\d+)\.conv\.0\.0\.weight')


class FoamliuMobileFaceNet(Layout):
    """ReLU6, a separable stem, and 1 x 1 convolutions with a bias for the embedding; ImageNet's mean and deviation."""
    name = 'foamliu-mobilefacenet'
    project = 'foamliu (MobileFaceNet)'
    telltale = 'gdconv.depthwise.weight'
    example = (dict(type='MobileFaceNet', separable_stem=True, relu6=True), dict(type='GDCNeck', bias=True))
    mean, std = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)

    def describe(self, state: State) -> tuple[dict, dict, tuple[int, int]]:
        pool, weight = state[self.telltale], state['conv3.weight']
        sizes = {int(found[1]): len(state[key]) for key in state if (found := _UNIT.fullmatch(key))}
        wide = [sizes[at] for at in sorted(sizes)]
        width = len(state['conv1.0.weight']) / 64
        first, widest = wide.count(round(128 * width)), wide.index(max(wide))  # the last stage begins with its widest bottleneck
        units = (first, widest - first - 1, len(wide) - widest - 1)
        return (dict(type='MobileFaceNet', width=width, out_channels=len(pool), units=units, separable_stem=True, relu6=True),
                dict(type='GDCNeck', in_channels=len(pool), feat_size=pool.shape[-1], out_channels=len(weight), bias=True),
                (pool.shape[-2] * 16, pool.shape[-1] * 16))  # yapf: disable

    def modules(self, backbone: dict, neck: dict) -> dict[str, str]:
        modules = {'conv1.0': 'backbone.stem.0', 'conv1.1': 'backbone.stem.1', 'dw_conv.depthwise': 'backbone.stem.3',
                   'dw_conv.bn1': 'backbone.stem.4', 'dw_conv.pointwise': 'backbone.stem.6', 'dw_conv.bn2': 'backbone.stem.7',
                   'conv2.0': 'backbone.last.0', 'conv2.1': 'backbone.last.1', 'gdconv.depthwise': 'neck.pool',
                   'gdconv.bn': 'neck.pool_norm', 'conv3': 'neck.fc', 'bn': 'neck.norm'}  # yapf: disable
        parts = {'0.0': 0, '0.1': 1, '1.0': 3, '1.1': 4, '2': 6, '3': 7}
        for at in range(sum(backbone.get('units', (5, 6, 2))) + 2):
            modules |= {f'features.{at}.conv.{part}': f'backbone.stages.{at}.{own}' for part, own in parts.items()}
        return modules

    def to_own(self, key: str, tensor: Tensor) -> Tensor:
        return tensor.flatten(1) if key == 'conv3.weight' else tensor

    def to_foreign(self, key: str, tensor: Tensor) -> Tensor:
        return tensor[:, :, None, None] if key == 'conv3.weight' else tensor

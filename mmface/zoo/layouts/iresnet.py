"""The keys of InsightFace's ``iresnet``, which many projects took over."""
import math
import re
from collections import Counter
from collections.abc import Mapping

from .layout import Layout, State, UnreadableNetwork

_UNIT = re.compile(r'layer([1-4])\.\d+\.bn1\.weight')


class IResNetLayout(Layout):
    """``layer1.0.bn1`` and so on, as mmface's own backbone names them; ``bn2``, ``fc`` and ``features`` at the end."""
    telltale = 'layer1.0.bn1.running_mean'
    example = (dict(type='IResNet', depth=50), dict(type='FaceNeck'))
    eps = 1e-5  #: of every batch norm

    def describe(self, state: State) -> tuple[dict, dict, tuple[int, int]]:
        stages = Counter(found[1] for key in state if (found := _UNIT.fullmatch(key)))
        depth = depth_of('basic', tuple(stages[stage] for stage in '1234'))
        side = side_of(state['fc.weight'].shape[1], 512)
        eps = {} if self.eps == IResNetLayout.eps else dict(eps=self.eps)
        return (dict(type='IResNet', depth=depth, **eps),
                dict(type='FaceNeck', in_channels=512, feat_size=side, out_channels=state['fc.weight'].shape[0], **eps),
                (side * 16, side * 16))  # yapf: disable

    def modules(self, backbone: dict, neck: dict) -> dict[str, str]:
        modules = {name: f'backbone.{name}' for name in ('conv1', 'bn1', 'prelu')}
        modules |= {'bn2': 'neck.map_norm', 'fc': 'neck.fc', 'features': 'neck.norm'}
        for stage, count in enumerate(depths('basic')[backbone['depth']], 1):
            for unit in range(count):
                name = f'layer{stage}.{unit}'
                modules |= {f'{name}.{part}': f'backbone.{name}.{part}'
                            for part in ('bn1', 'conv1', 'bn2', 'prelu', 'conv2', 'bn3', 'downsample.0', 'downsample.1')}  # yapf: disable
        return modules


def depths(unit: str) -> Mapping[int, tuple[int, ...]]:
    """Units in the stages of an IResNet of this kind of unit, by depth."""
    from mmface.models.backbones.iresnet import DEPTHS  # which loads all models, and listing the zoo needs none
    return DEPTHS[unit]


def depth_of(unit: str, units: tuple[int, ...]) -> int:
    """The depth of an IResNet with so many units in its stages.

    Raises:
        UnreadableNetwork: there is none.
    """
    depth = next((depth for depth, known in depths(unit).items() if known == units), None)
    if depth is None:
        raise UnreadableNetwork(f'an IResNet with {list(units)} {unit} units in its stages; there are {depths(unit)}')
    return depth


def side_of(inputs: int, channels: int) -> int:
    """The side of the square map of ``channels`` that a layer of ``inputs`` reads.

    Raises:
        UnreadableNetwork: it is not square.
    """
    side = math.isqrt(inputs // channels)
    if side * side * channels != inputs or side == 0:
        raise UnreadableNetwork(f'an embedding layer of {inputs} inputs, which is no square map of {channels} channels')
    return side

"""The keys of face.evoLVe's ``IR`` networks, with the batch norm inside the units that came later and without it."""
import re
from collections import Counter

from .iresnet import depth_of, depths, side_of
from .layout import Layout, State

_BODY = re.compile(r'body\.\d+\.res_layer\.(\d+)\.running_mean')


class IRLayout(Layout):
    """``input_layer``, ``body`` (units of all stages, counted through) and ``output_layer``.

    Attributes:
        parts: of a unit's ``res_layer``, in their order.
        squeeze: name of its squeeze-and-excitation.
    """
    parts: tuple[str, ...] = ()
    squeeze = ''
    bottleneck_parts: tuple[str, ...] = ()

    def describe(self, state: State) -> tuple[dict, dict, tuple[int, int]]:
        bottleneck = f'body.0.res_layer.{len(self.parts)}.weight' in state and bool(self.bottleneck_parts)
        parts = self.bottleneck_parts if bottleneck else self.parts
        widths = Counter(len(state[key]) for key in state if (found := _BODY.fullmatch(key)) and int(found[1]) == len(parts) - 1)
        channels = [width * 4 if bottleneck else width for width in (64, 128, 256, 512)]
        depth = depth_of('bottleneck' if bottleneck else 'basic', tuple(widths[width] for width in channels))
        weight = state['output_layer.3.weight']
        side = side_of(weight.shape[1], channels[-1])
        switches = {'se': f'body.0.res_layer.{self.squeeze}.fc1.weight' in state, 'bottleneck': bottleneck}
        mid_norm = {} if 'bn2' in self.parts else dict(mid_norm=False)
        return (dict(type='IResNet', depth=depth, subsample_shortcut=True, **mid_norm, **{key: True for key, on in switches.items() if on}),
                dict(type='FaceNeck', in_channels=channels[-1], feat_size=side, out_channels=weight.shape[0],
                     **({} if 'output_layer.4.weight' in state else dict(affine=False))), (side * 16, side * 16))  # yapf: disable

    def modules(self, backbone: dict, neck: dict) -> dict[str, str]:
        bottleneck = backbone.get('bottleneck', False)
        parts = self.bottleneck_parts if bottleneck else self.parts
        modules = {f'input_layer.{at}': f'backbone.{name}' for at, name in enumerate(('conv1', 'bn1', 'prelu'))}
        modules |= {'output_layer.0': 'neck.map_norm', 'output_layer.3': 'neck.fc', 'output_layer.4': 'neck.norm'}
        stages = depths('bottleneck' if bottleneck else 'basic')[backbone['depth']]
        units = [f'backbone.layer{stage}.{unit}' for stage, count in enumerate(stages, 1) for unit in range(count)]
        for at, unit in enumerate(units):
            modules |= {f'body.{at}.res_layer.{index}': f'{unit}.{part}' for index, part in enumerate(parts)}
            modules |= {f'body.{at}.shortcut_layer.{index}': f'{unit}.downsample.{index}' for index in range(2)}
            modules |= {f'body.{at}.res_layer.{self.squeeze}.fc{index}': f'{unit}.se.conv{index}.conv' for index in (1, 2)}
        return modules


class NewIRLayout(IRLayout):
    """With a batch norm before the PReLU of each unit."""
    telltale = 'body.0.res_layer.5.running_mean'
    example = (dict(type='IResNet', depth=50, subsample_shortcut=True), dict(type='FaceNeck', affine=False))
    parts = ('bn1', 'conv1', 'bn2', 'prelu', 'conv2', 'bn3')
    bottleneck_parts = ('bn1', 'conv1', 'bn2', 'prelu', 'conv2', 'bn3', 'prelu2', 'conv3', 'bn4')
    squeeze = 'se_block'


class OldIRLayout(IRLayout):
    """Without it."""
    telltale = 'body.0.res_layer.4.running_mean'
    example = (dict(type='IResNet', depth=50, subsample_shortcut=True, mid_norm=False), dict(type='FaceNeck'))
    parts = ('bn1', 'conv1', 'prelu', 'conv2', 'bn3')
    squeeze = '5'

"""The keys of the MobileFaceNet that came with InsightFace_Pytorch (TreB1eN) and that TFace, FaceX-Zoo and others took over."""
import re

from .layout import Layout, State

_STAGES = (('conv_23', 'conv_3'), ('conv_34', 'conv_4'), ('conv_45', 'conv_5'))


class FlatMobileFaceNetLayout(Layout):
    """``conv_23``, ``conv_3`` and so on: the paper's network.

    Attributes:
        end: what stands before the keys of the embedding layer.
    """
    end = ''
    example = (dict(type='MobileFaceNet'), dict(type='GDCNeck', out_channels=512))

    def describe(self, state: State) -> tuple[dict, dict, tuple[int, int]]:
        width = len(state['conv1.conv.weight']) / 64
        pool = state[f'{self.end}conv_6_dw.conv.weight']
        blocks = [sum(re.fullmatch(rf'{name}\.model\.\d+\.conv\.conv\.weight', key) is not None for key in state) for _, name in _STAGES]
        affine = {} if f'{self.end}bn.weight' in state else dict(affine=False)
        return (dict(type='MobileFaceNet', width=width, out_channels=len(pool), units=(1 + blocks[0], *blocks[1:])),
                dict(type='GDCNeck', in_channels=len(pool), feat_size=pool.shape[-1], out_channels=len(state[f'{self.end}linear.weight']),
                     **affine), (pool.shape[-2] * 16, pool.shape[-1] * 16))  # yapf: disable

    def modules(self, backbone: dict, neck: dict) -> dict[str, str]:
        modules: dict[str, str] = {}
        for foreign, own, place in (('conv1', 'stem', 0), ('conv2_dw', 'stem', 3), ('conv_6_sep', 'last', 0)):
            modules |= _block(foreign, f'backbone.{own}', place)
        modules |= {f'{self.end}conv_6_dw.conv': 'neck.pool', f'{self.end}conv_6_dw.bn': 'neck.pool_norm',
                    f'{self.end}linear': 'neck.fc', f'{self.end}bn': 'neck.norm'}  # yapf: disable
        units = backbone.get('units', (5, 6, 2))
        at = 0
        for (first, rest), count in zip(_STAGES, (units[0] - 1, *units[1:]), strict=True):
            for name in [first] + [f'{rest}.model.{unit}' for unit in range(count)]:
                for part, start in (('conv', 0), ('conv_dw', 3), ('project', 6)):
                    modules |= _block(f'{name}.{part}', f'backbone.stages.{at}', start)
                at += 1
        return modules


def _block(foreign: str, own: str, first: int) -> dict[str, str]:
    return {f'{foreign}.{part}': f'{own}.{first + at}' for at, part in enumerate(('conv', 'bn', 'prelu'))}

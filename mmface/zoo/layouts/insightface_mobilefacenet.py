"""InsightFace's MobileFaceNet, ``mbf`` and ``mbf_large``."""
import re

from .layout import Layout, State

_PLACES = (2, 4, 6)  # of the bottlenecks with stride 2 in `layers`; the residual ones follow each


class InsightFaceMobileFaceNet(Layout):
    """Twice (large: four times) as wide between its bottlenecks as the paper's network, and as wide within them."""
    name = 'insightface-mobilefacenet'
    project = 'InsightFace (MobileFaceNet)'
    telltale = 'features.layers.0.layers.0.weight'
    example = (dict(type='MobileFaceNet', width=2, inner_width=1), dict(type='GDCNeck', out_channels=512))

    def describe(self, state: State) -> tuple[dict, dict, tuple[int, int]]:
        stem_units, *blocks = (_count(state, place) for place in (1, 3, 5, 7))
        width, inner = len(state['layers.0.layers.0.weight']) / 64, len(state['layers.2.layers.0.layers.0.weight']) / 128
        side = state[self.telltale].shape[-1]
        last = len(state['conv_sep.layers.0.weight'])
        extra = dict(stem_units=stem_units) if stem_units else {}
        return (dict(type='MobileFaceNet', width=width, out_channels=last, inner_width=inner, units=(1 + blocks[0], *blocks[1:]), **extra),
                dict(type='GDCNeck', in_channels=last, feat_size=side, out_channels=len(state['features.layers.2.weight'])),
                (side * 16, side * 16))  # yapf: disable

    def modules(self, backbone: dict, neck: dict) -> dict[str, str]:
        modules = {f'layers.0.layers.{at}': f'backbone.stem.{at}' for at in range(3)}
        modules |= {f'conv_sep.layers.{at}': f'backbone.last.{at}' for at in range(3)}
        modules |= {'features.layers.0.layers.0': 'neck.pool', 'features.layers.0.layers.1': 'neck.pool_norm',
                    'features.layers.2': 'neck.fc', 'features.layers.3': 'neck.norm'}  # yapf: disable
        stem_units = backbone.get('stem_units', 0)
        for at in range(stem_units):
            modules |= _bottleneck(f'layers.1.layers.{at}', f'backbone.stem.{3 + at}')
        if not stem_units:
            modules |= {f'layers.1.layers.{at}': f'backbone.stem.{3 + at}' for at in range(3)}
        units = backbone.get('units', (5, 6, 2))
        at = 0
        for place, count in zip(_PLACES, (units[0] - 1, *units[1:]), strict=True):
            names = [f'layers.{place}'] + [f'layers.{place + 1}.layers.{unit}' for unit in range(count)]
            for name in names:
                modules |= _bottleneck(name, f'backbone.stages.{at}')
                at += 1
        return modules


def _count(state: State, place: int) -> int:
    pattern = re.compile(rf'layers\.{place}\.layers\.\d+\.layers\.0\.layers\.0\.weight')
    return sum(pattern.fullmatch(key) is not None for key in state)


def _bottleneck(foreign: str, own: str) -> dict[str, str]:
    return {f'{foreign}.layers.{part}.layers.{at}': f'{own}.{3 * part + at}' for part in range(3) for at in range(3)}

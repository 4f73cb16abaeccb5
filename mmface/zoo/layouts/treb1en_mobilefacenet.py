"""The MobileFaceNet of InsightFace_Pytorch."""
from collections.abc import Collection

from .flat_mobilefacenet import FlatMobileFaceNetLayout


class TreB1eNMobileFaceNet(FlatMobileFaceNetLayout):
    """Plain state dicts; (x - 127.5) / 127.5 of RGB."""
    name = 'treb1en-mobilefacenet'
    project = 'InsightFace_Pytorch (MobileFaceNet)'
    telltale = 'conv_6_dw.conv.weight'

    def prefixes(self, keys: Collection[str]) -> list[str]:
        return [prefix for prefix in super().prefixes(keys) if not prefix.endswith('output_layer.')]

"""FaceX-Zoo's MobileFaceNet."""
from .facex_zoo import FaceXZoo
from .treb1en_mobilefacenet import TreB1eNMobileFaceNet


class FaceXZooMobileFaceNet(TreB1eNMobileFaceNet):
    """The same keys within FaceX-Zoo's wrappers, and its input."""
    name = 'facex-zoo-mobilefacenet'
    project = 'FaceX-Zoo (MobileFaceNet)'
    wrappers, prefix, inside = FaceXZoo.wrappers, FaceXZoo.prefix, FaceXZoo.inside
    color, std = FaceXZoo.color, FaceXZoo.std

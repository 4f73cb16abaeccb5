"""Other projects' layouts of checkpoints: one file a family; importing it is what registers it."""
from .adaface import AdaFace
from .cvlface import CVLface
from .difference import Difference
from .face_evolve import FaceEvolve
from .facex_zoo import FaceXZoo
from .facex_zoo_mobilefacenet import FaceXZooMobileFaceNet
from .foamliu_mobilefacenet import FoamliuMobileFaceNet
from .insightface import InsightFace
from .insightface_mobilefacenet import InsightFaceMobileFaceNet
from .layout import LAYOUTS, Layout, UnreadableNetwork
from .magface import MagFace
from .tface import TFace
from .tface_mobilefacenet import TFaceMobileFaceNet
from .treb1en_mobilefacenet import TreB1eNMobileFaceNet
from .vit import ViT

__all__ = [
    'LAYOUTS', 'AdaFace', 'CVLface', 'Difference', 'FaceEvolve', 'FaceXZoo', 'FaceXZooMobileFaceNet', 'FoamliuMobileFaceNet', 'InsightFace',
    'InsightFaceMobileFaceNet', 'Layout', 'MagFace', 'TFace', 'TFaceMobileFaceNet', 'TreB1eNMobileFaceNet', 'UnreadableNetwork', 'ViT'
]

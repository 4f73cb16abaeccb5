"""Pure protocols: a set and raw embeddings in, numbers out."""
from .grouped_verification import GroupedVerification
from .ijbs_identification import IJBSIdentification
from .lfw_view1 import LFWView1
from .megaface_identification import MegaFaceIdentification
from .paired_difference import paired_difference
from .scface_identification import SCfaceIdentification
from .switches import hash_switches
from .template_identification import TemplateIdentification
from .template_pooling import POOLING_PRESETS, TemplatePooling
from .template_verification import TemplateVerification
from .ten_fold_verification import TenFoldVerification
from .tinyface_identification import TinyFaceIdentification

__all__ = [
    'POOLING_PRESETS', 'GroupedVerification', 'IJBSIdentification', 'LFWView1', 'MegaFaceIdentification', 'SCfaceIdentification',
    'TemplateIdentification', 'TemplatePooling', 'TemplateVerification', 'TenFoldVerification', 'TinyFaceIdentification', 'hash_switches',
    'paired_difference'
]

"""Losses on two vectors: one paper, one file."""
from .adacos_loss import AdaCosLoss
from .adaface_loss import AdaFaceLoss
from .arcface_loss import ArcFaceLoss
from .coco_loss import COCOLoss
from .combined_margin_loss import CombinedMarginLoss
from .cosface_loss import CosFaceLoss
from .curricularface_loss import CurricularFaceLoss
from .elasticface_loss import ElasticFaceLoss
from .face_loss import FaceLoss, Target
from .gb_cosface_loss import GBCosFaceLoss
from .l2_softmax_loss import L2SoftmaxLoss
from .l_softmax_loss import LSoftmaxLoss
from .magface_loss import MagFaceLoss
from .mv_softmax_loss import MVSoftmaxLoss
from .normface_loss import NormFaceLoss
from .p2sgrad_loss import P2SGradLoss
from .scf_loss import SCFLoss
from .softmax_loss import SoftmaxLoss
from .sphereface2_loss import SphereFace2Loss
from .sphereface_loss import SphereFaceLoss
from .sphereface_r_loss import SphereFaceRLoss
from .statistics import Elementwise, LogSumExp, SoftplusSum, Statistic
from .uniface_loss import UniFaceLoss

__all__ = [
    'AdaCosLoss', 'AdaFaceLoss', 'ArcFaceLoss', 'COCOLoss', 'CombinedMarginLoss', 'CosFaceLoss', 'CurricularFaceLoss', 'ElasticFaceLoss',
    'Elementwise', 'FaceLoss', 'GBCosFaceLoss', 'L2SoftmaxLoss', 'LSoftmaxLoss', 'LogSumExp', 'MVSoftmaxLoss', 'MagFaceLoss',
    'NormFaceLoss', 'P2SGradLoss', 'SCFLoss', 'SoftmaxLoss', 'SoftplusSum', 'SphereFace2Loss', 'SphereFaceLoss', 'SphereFaceRLoss',
    'Statistic', 'Target', 'UniFaceLoss'
]

"""Recognizers and their parts."""
import mmpretrain.models  # noqa: F401  (registers mmpretrain's backbones, which configs may name)

from .backbones import EdgeFace, InceptionResNet, IResNet, MobileFaceNet, SevenLayerNet
from .engines import DenseEngine, FusedEngine, SampledEngine
from .face_data_preprocessor import FaceDataPreprocessor
from .heads import BroadFaceHead, FaceClsHead, SCFHead, VPLHead
from .losses import (
                     AdaCosLoss,
                     AdaFaceLoss,
                     ArcFaceLoss,
                     COCOLoss,
                     CombinedMarginLoss,
                     CosFaceLoss,
                     CurricularFaceLoss,
                     ElasticFaceLoss,
                     Elementwise,
                     FaceLoss,
                     GBCosFaceLoss,
                     L2SoftmaxLoss,
                     LogSumExp,
                     LSoftmaxLoss,
                     MagFaceLoss,
                     MVSoftmaxLoss,
                     NormFaceLoss,
                     P2SGradLoss,
                     SCFLoss,
                     SoftmaxLoss,
                     SoftplusSum,
                     SphereFace2Loss,
                     SphereFaceLoss,
                     SphereFaceRLoss,
                     Statistic,
                     Target,
                     UniFaceLoss,
)
from .necks import FaceNeck, GDCNeck, PoolNeck, ViTNeck
from .recognizers import FaceRecognizer

__all__ = [
    'AdaCosLoss', 'AdaFaceLoss', 'ArcFaceLoss', 'BroadFaceHead', 'COCOLoss', 'CombinedMarginLoss', 'CosFaceLoss', 'CurricularFaceLoss',
    'DenseEngine', 'EdgeFace', 'ElasticFaceLoss', 'Elementwise', 'FaceClsHead', 'FaceDataPreprocessor', 'FaceLoss', 'FaceNeck',
    'FaceRecognizer', 'FusedEngine', 'GBCosFaceLoss', 'GDCNeck', 'IResNet', 'InceptionResNet', 'L2SoftmaxLoss', 'LSoftmaxLoss',
    'LogSumExp', 'MVSoftmaxLoss', 'MagFaceLoss', 'MobileFaceNet', 'NormFaceLoss', 'P2SGradLoss', 'PoolNeck', 'SCFHead', 'SCFLoss',
    'SampledEngine', 'SevenLayerNet', 'SoftmaxLoss', 'SoftplusSum', 'SphereFace2Loss', 'SphereFaceLoss', 'SphereFaceRLoss', 'Statistic',
    'Target', 'UniFaceLoss', 'VPLHead', 'ViTNeck'
]

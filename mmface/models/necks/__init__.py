"""Necks: a feature map to the embedding."""
from .face_neck import FaceNeck
from .gdc_neck import GDCNeck
from .pool_neck import PoolNeck
from .vit_neck import ViTNeck

__all__ = ['FaceNeck', 'GDCNeck', 'PoolNeck', 'ViTNeck']

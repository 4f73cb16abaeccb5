"""Necks: a feature map to the embedding."""
from .face_neck import FaceNeck
from .gdc_neck import GDCNeck

__all__ = ['FaceNeck', 'GDCNeck']

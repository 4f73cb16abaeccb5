"""Heads: owners of the prototypes."""
from .broadface_head import BroadFaceHead
from .face_cls_head import FaceClsHead
from .scf_head import SCFHead
from .vpl_head import VPLHead

__all__ = ['BroadFaceHead', 'FaceClsHead', 'SCFHead', 'VPLHead']

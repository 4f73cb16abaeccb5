"""Transforms of single images. Everything of mmcv and mmpretrain that works on ``img`` (``Resize``, ``RandomFlip`` ...) fits in between."""
from .decode_face import DecodeFace
from .pack_face import PackFace

__all__ = ['DecodeFace', 'PackFace']

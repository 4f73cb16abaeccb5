"""Transforms of single images. All of mmcv and mmpretrain that works on ``img`` (``Resize``, ``RandomErasing`` ...) fits in between."""
from .align_face import AlignFace
from .decode_face import DecodeFace
from .pack_face import PackFace
from .random_crop_in_place import RandomCropInPlace
from .random_flip import RandomFlip
from .random_low_resolution import RandomLowResolution
from .random_photometric import RandomPhotometric

__all__ = ['AlignFace', 'DecodeFace', 'PackFace', 'RandomCropInPlace', 'RandomFlip', 'RandomLowResolution', 'RandomPhotometric']

"""Data sets: readers of what is on disk, transforms, samplers."""
from .collate import face_collate
from .concat_dataset import ConcatDataset
from .eval_dataset import EvalDataset
from .face_dataset import FaceDataset
from .formats import DataFormatError, DataFormatWarning, open_eval, open_records
from .samplers import ClassAwareSampler, FaceSampler, IdentityBalancedSampler, InfiniteFaceSampler
from .transforms import (
    AlignFace,
    DecodeFace,
    PackFace,
    RandomCropInPlace,
    RandomFlip,
    RandomLowResolution,
    RandomPhotometric,
)

__all__ = [
    'AlignFace', 'ClassAwareSampler', 'ConcatDataset', 'DataFormatError', 'DataFormatWarning', 'DecodeFace', 'EvalDataset', 'FaceDataset',
    'FaceSampler', 'IdentityBalancedSampler', 'InfiniteFaceSampler', 'PackFace', 'RandomCropInPlace', 'RandomFlip', 'RandomLowResolution',
    'RandomPhotometric', 'face_collate', 'open_eval', 'open_records'
]

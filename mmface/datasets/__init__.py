"""Data sets: readers of what is on disk, transforms, samplers."""
from .collate import face_collate
from .face_dataset import FaceDataset
from .formats import DataFormatError, DataFormatWarning, open_eval, open_records
from .pair_dataset import PairDataset
from .samplers import FaceSampler, InfiniteFaceSampler
from .transforms import DecodeFace, PackFace

__all__ = [
    'DataFormatError', 'DataFormatWarning', 'DecodeFace', 'FaceDataset', 'FaceSampler', 'InfiniteFaceSampler', 'PackFace', 'PairDataset',
    'face_collate', 'open_eval', 'open_records'
]

"""The objects that cross package borders."""
from .face_data_sample import FaceDataSample
from .pair_set import PairSet

__all__ = ['FaceDataSample', 'PairSet']

"""The objects that cross package borders."""
from .face_data_sample import FaceDataSample
from .pair_set import PairSet
from .search_set import SearchSet
from .template_set import TemplateList, TemplateSet

__all__ = ['FaceDataSample', 'PairSet', 'SearchSet', 'TemplateList', 'TemplateSet']

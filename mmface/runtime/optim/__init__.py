"""Optimiser wrappers."""
from .face_amp_optim_wrapper import FaceAmpOptimWrapper
from .face_optim_wrapper import FaceOptimWrapper

__all__ = ['FaceAmpOptimWrapper', 'FaceOptimWrapper']

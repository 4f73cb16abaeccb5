"""Optimiser wrappers, and what makes them from a config."""
from .face_amp_optim_wrapper import FaceAmpOptimWrapper
from .face_optim_wrapper import FaceOptimWrapper
from .face_optim_wrapper_constructor import FaceOptimWrapperConstructor

__all__ = ['FaceAmpOptimWrapper', 'FaceOptimWrapper', 'FaceOptimWrapperConstructor']

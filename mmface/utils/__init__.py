"""Small things that every part may use: what is installed, and what has to be mended in it."""
from .dependency import import_onnxruntime

__all__ = ['import_onnxruntime']

"""The pass over the classes: the only code that touches a B x C array."""
from .dense_engine import DenseEngine
from .engine import Engine
from .fused_engine import FusedEngine
from .sampled_engine import SampledEngine

__all__ = ['DenseEngine', 'Engine', 'FusedEngine', 'SampledEngine']

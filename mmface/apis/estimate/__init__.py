"""Memory, communication and advice before a training is started."""
from .estimate import Estimate, estimate

__all__ = ['Estimate', 'estimate']

"""Samplers that say which sample of which epoch comes next, and can begin anywhere."""
from .face_sampler import FaceSampler
from .infinite_face_sampler import InfiniteFaceSampler

__all__ = ['FaceSampler', 'InfiniteFaceSampler']

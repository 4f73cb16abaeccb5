"""Samplers that say which sample of which epoch comes next, and can begin anywhere."""
from .class_aware_sampler import ClassAwareSampler
from .face_sampler import FaceSampler
from .identity_balanced_sampler import IdentityBalancedSampler
from .infinite_face_sampler import InfiniteFaceSampler

__all__ = ['ClassAwareSampler', 'FaceSampler', 'IdentityBalancedSampler', 'InfiniteFaceSampler']

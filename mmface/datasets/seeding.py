"""Where the randomness of a sample comes from: nothing but (seed, epoch, sample_idx)."""
import random
from collections.abc import Collection
from functools import lru_cache

import numpy as np
import torch

_MASK = (1 << 64) - 1

GENERATORS = frozenset({'python', 'numpy', 'torch'})
"""The global generators that transforms draw from; a transform of this package says which in its attribute ``draws_from``."""


def mix(*numbers: int) -> int:
    """A 64-bit number that depends on all of ``numbers`` and their order (the finaliser of SplitMix64 after each)."""
    state = 0
    for number in numbers:
        state = _step(state, number)
    return state


def _step(state: int, number: int) -> int:
    state = (state + number + 0x9e3779b97f4a7c15) & _MASK
    state = ((state ^ state >> 30) * 0xbf58476d1ce4e5b9) & _MASK
    state = ((state ^ state >> 27) * 0x94d049bb133111eb) & _MASK
    return state ^ state >> 31


_mix_epoch = lru_cache(maxsize=16)(mix)  # all samples of an epoch begin with the same two numbers


def seed_sample(seed: int, epoch: int, sample_idx: int, generators: Collection[str] = GENERATORS) -> None:  # noqa: D417
    """Seeds the global generators of Python, NumPy and torch (CPU), which transforms draw from, for one sample.

    So a sample looks the same whichever worker makes it, and after a resume. Only the CPU generator of torch is touched:
    ``torch.manual_seed`` would take a hundred times longer.

    Args:
        seed, epoch, sample_idx: whole numbers.
        generators: those that will be drawn from; each costs a few microseconds, Python's the most.
    """
    if not generators:
        return
    state = _step(_mix_epoch(seed, epoch), sample_idx)
    if 'numpy' in generators:
        np.random.seed(state & 0xffffffff)
    if 'torch' in generators:
        torch.default_generator.manual_seed(state >> 1)
    if 'python' in generators:
        random.seed(state)

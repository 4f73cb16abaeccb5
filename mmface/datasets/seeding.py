"""Where the randomness of a sample comes from: nothing but (seed, epoch, sample_idx)."""
import random

import numpy as np
import torch

_MASK = (1 << 64) - 1


def mix(*numbers: int) -> int:
    """A 64-bit number that depends on all of ``numbers`` and their order (the finaliser of SplitMix64 after each)."""
    state = 0
    for number in numbers:
        state = (state + number + 0x9e3779b97f4a7c15) & _MASK
        state = ((state ^ state >> 30) * 0xbf58476d1ce4e5b9) & _MASK
        state = ((state ^ state >> 27) * 0x94d049bb133111eb) & _MASK
        state ^= state >> 31
    return state


def seed_sample(seed: int, epoch: int, sample_idx: int) -> None:
    """Seeds the global generators of Python, NumPy and torch (CPU), which transforms draw from, for one sample.

    So a sample looks the same whichever worker makes it, and after a resume. Only the CPU generator of torch is touched:
    ``torch.manual_seed`` would take a hundred times longer.
    """
    state = mix(seed, epoch, sample_idx)
    random.seed(state)
    np.random.seed(state & 0xffffffff)
    torch.default_generator.manual_seed(state >> 1)

"""The generators of a training step."""
import random

import numpy as np
import torch


def seed_step(seed: int, iteration: int, rank: int, device: torch.device) -> None:
    """Seeds Python's, NumPy's and torch's generators (also that of ``device``) from the three numbers."""
    words = np.random.SeedSequence((seed, iteration, rank)).generate_state(4).tolist()
    random.seed(words[0])
    np.random.seed(words[1])
    state = (words[2] << 32) + words[3]
    # Not torch.manual_seed: for every kind of device that is not there it notes the stack, which takes longer than a small model.
    torch.default_generator.manual_seed(state)
    if device.type != 'cpu':
        torch.get_device_module(device).manual_seed(state)

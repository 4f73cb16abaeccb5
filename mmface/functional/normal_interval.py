"""How far the mean of numbers that are no shares can be trusted."""
from math import sqrt

import numpy as np

from .intervals import Interval, normal_quantile


def normal_interval(values: np.ndarray, confidence: float = 0.95) -> Interval:
    """For the mean of independent numbers in [0, 1]: the mean and its standard error (ddof 1), within [0, 1]; [0, 1] for a single one."""
    if len(values) < 2:
        return 0., 1.
    mean, half = float(np.mean(values)), normal_quantile(confidence) * float(np.std(values, ddof=1)) / sqrt(len(values))
    return max(mean - half, 0.), min(mean + half, 1.)

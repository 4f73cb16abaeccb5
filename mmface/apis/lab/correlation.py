"""How far two numbers go together, and how sure that is."""
import math
from typing import NamedTuple

import numpy as np
from scipy.stats import pearsonr, spearmanr

LEAST = 4  # pairs: fewer have no interval


class Correlation(NamedTuple):
    """Of N pairs of numbers; NaN where there is none.

    Attributes:
        pearson: linear correlation, -1 to 1.
        low, high: its interval of 95 % (Fisher's transformation, for pairs that are independent).
        spearman: correlation of the ranks.
        pairs: N.
    """
    pearson: float
    low: float
    high: float
    spearman: float
    pairs: int

    def __str__(self) -> str:
        return f'{self.pearson:.4f} ({self.low:.4f} to {self.high:.4f}), ranks {self.spearman:.4f}'


def correlate(x: np.ndarray, y: np.ndarray) -> Correlation:
    """The correlation of ``x`` and ``y`` ``[N]`` over the pairs that are finite; NaN for fewer than four, or for a constant."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < LEAST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(math.nan, math.nan, math.nan, math.nan, len(x))
    linear = pearsonr(x, y)
    low, high = linear.confidence_interval()
    return Correlation(float(linear.statistic), float(low), float(high), float(spearmanr(x, y).statistic), len(x))

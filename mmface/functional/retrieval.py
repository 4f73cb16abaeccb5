"""The average precision of searches, in its two readings."""
from typing import NamedTuple

import numpy as np


class AveragePrecision(NamedTuple):
    """``trapezoid`` and ``step``, float64 [Q] each."""
    trapezoid: np.ndarray
    step: np.ndarray


def average_precision(probe: np.ndarray, rank: np.ndarray, probes: int) -> AveragePrecision:
    """The area under precision over recall of each search, from the ranks of its mates among all.

    ``step`` takes the precision where each mate stands, as retrieval usually does. ``trapezoid``, TinyFace's own and that of Oxford's
    buildings, takes the mean of it and of the precision one place before (1 at the first place); it is never larger.

    Args:
        probe: int64 [N], whose mate it is.
        rank: int64 [N], from 1, other mates counted.
        probes: Q; each needs a mate.
    """
    order = np.lexsort((rank, probe))
    probe, rank = probe[order], rank[order]
    count = np.bincount(probe, minlength=probes)
    place = np.arange(len(probe)) - (np.cumsum(count) - count)[probe]  # mates before
    here, before = (place + 1) / rank, np.where(rank > 1, place / np.maximum(rank - 1, 1), 1)
    step, trapezoid = (np.bincount(probe, precision, probes) / count for precision in (here, (here + before) / 2))
    return AveragePrecision(trapezoid, step)

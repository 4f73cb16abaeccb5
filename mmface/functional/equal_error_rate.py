"""The equal error rate, found by bisection."""
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .roc import Roc


class EqualErrorRate(NamedTuple):
    """The equal error rate in its two readings.

    ``mid`` is the mean of ``fmr`` and ``fnmr`` at ``threshold``, the highest one that brings them closest; ``cross`` is where the straight
    line between neighbouring points of the ROC meets FMR = FNMR. They agree within one over the smaller number of scores.
    """
    mid: float
    cross: float
    threshold: float
    fmr: float
    fnmr: float


def equal_error_rate(roc: Roc) -> EqualErrorRate:
    """The error rate where as large a share of impostors passes as of genuine pairs fails."""
    def gap(threshold: float) -> int:
        """FMR - FNMR in units of 1 / (genuine * impostors), in which it is exact; it falls as the threshold rises."""
        misses = roc.genuine - roc.true_accepts_at(threshold)
        return roc.false_accepts_at(threshold) * roc.genuine - misses * roc.impostors

    after = max(_last(scores, lambda score: gap(score) >= 0) for scores in (roc.genuine_scores, roc.impostor_scores))
    before = roc.lowest_above(after)
    at = after if gap(after) < -gap(before) else before
    share = -gap(before) / (gap(after) - gap(before))
    (fmr_before, _), (fmr_after, _), (fmr, fnmr) = (_rates(roc, threshold) for threshold in (before, after, at))
    cross = fmr_after if gap(after) == 0 else fmr_before + share * (fmr_after - fmr_before)
    return EqualErrorRate((fmr + fnmr) / 2, cross, at, fmr, fnmr)


def _rates(roc: Roc, threshold: float) -> tuple[float, float]:
    return roc.false_accepts_at(threshold) / roc.impostors, (roc.genuine - roc.true_accepts_at(threshold)) / roc.genuine


def _last(rising: np.ndarray, holds: Callable[[float], bool]) -> float:
    """The highest score for which a condition holds that higher ones break; -inf where it holds for none."""
    count = bisect_left(range(len(rising)), True, key=lambda at: not holds(float(rising[at])))
    return float(rising[count - 1]) if count else -np.inf

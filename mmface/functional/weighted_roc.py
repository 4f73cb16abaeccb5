"""The ROCs of many sets that hold the same pairs in different numbers, at once: what a bootstrap asks for.

The conventions are those of :mod:`.roc`, where each function has its twin for one set.
"""
from typing import NamedTuple

import numpy as np


class Rocs(NamedTuple):
    """R curves over the same K falling thresholds, the first of which accepts nothing: counts, float64 [R, K]."""
    false_accepts: np.ndarray
    true_accepts: np.ndarray


class WeightedRoc:
    """Sorts N scores once and counts for any weights.

    Args:
        similarity: [N] scores.
        same: bool [N].
    """

    def __init__(self, similarity: np.ndarray, same: np.ndarray) -> None:
        self._order = np.argsort(-similarity)
        ordered = similarity[self._order]
        self._last = np.append(np.flatnonzero(ordered[:-1] != ordered[1:]), len(ordered) - 1)
        self._same = same[self._order]

    def __call__(self, weights: np.ndarray) -> Rocs:
        """Counts where pair n stands ``weights[r, n]`` times; [R, N]."""
        ordered = weights[:, self._order]
        return Rocs(self._accepted(ordered * ~self._same), self._accepted(ordered * self._same))

    def _accepted(self, ordered: np.ndarray) -> np.ndarray:
        return np.pad(ordered.cumsum(1)[:, self._last], ((0, 0), (1, 0)))


def tars_at_far(rocs: Rocs, far: float) -> np.ndarray:
    """The largest TAR whose FAR does not exceed ``far``, float64 [R]; NaN where a kind has no pairs."""
    fars, tars = _shares(rocs)
    at = (fars <= far).sum(1) - 1
    return tars[np.arange(len(at)), at]


def equal_error_rates(rocs: Rocs) -> np.ndarray:
    """The ``mid`` reading, float64 [R]; NaN where a kind has no pairs."""
    impostors, genuine = (counts[:, -1:] for counts in rocs)
    gap = rocs.false_accepts * genuine - (genuine - rocs.true_accepts) * impostors
    at = np.abs(gap).argmin(1)
    fars, tars = _shares(rocs)
    row = np.arange(len(at))
    return (fars[row, at] + 1 - tars[row, at]) / 2


def aucs(rocs: Rocs) -> np.ndarray:
    """The areas under the curves, float64 [R]; NaN where a kind has no pairs."""
    fars, tars = _shares(rocs)
    return (np.diff(fars, axis=1) * (tars[:, 1:] + tars[:, :-1])).sum(1) / 2


def _shares(rocs: Rocs) -> list[np.ndarray]:
    totals = [counts[:, -1:] for counts in rocs]
    both = (totals[0] > 0) & (totals[1] > 0)
    return [counts / np.where(both, total, np.nan) for counts, total in zip(rocs, totals, strict=True)]

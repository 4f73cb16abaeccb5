"""The receiver operating characteristic, without thinning, and what is read off it.

Conventions of the whole package: a score is a similarity, **accept when score >= threshold**, and

    FAR(t) = #{impostor >= t} / #impostor       TAR(t) = #{genuine >= t} / #genuine       FNMR = 1 - TAR, FMR = FAR

Counts are integers, scores float64, shares fractions (0.01 is one percent). Genuine scores may be -inf (never accepted).
"""
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Roc:
    """Every operating point that the scores can tell apart, from "accept nothing" to "accept all".

    Attributes:
        thresholds: float64 [K], falling: +inf, then every distinct score.
        false_accepts: int64 [K], impostors accepted at each threshold.
        true_accepts: int64 [K], genuine ones accepted.
        genuine: how many genuine scores there are.
        impostors: how many impostor scores there are.
    """
    thresholds: np.ndarray
    false_accepts: np.ndarray
    true_accepts: np.ndarray
    genuine: int
    impostors: int

    @property
    def far(self) -> np.ndarray:
        """Float64 [K]: the share of impostors accepted."""
        return self.false_accepts / self.impostors

    @property
    def tar(self) -> np.ndarray:
        """Float64 [K]: the share of genuine pairs accepted."""
        return self.true_accepts / self.genuine


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


def roc_curve(genuine: np.ndarray, impostor: np.ndarray) -> Roc:
    """The ROC of two sets of scores, [G] and [I], with every distinct score as a threshold (-0.0 and 0.0 are one).

    Raises:
        ValueError: where either is empty or holds NaN.
    """
    genuine, impostor = np.asarray(genuine, np.float64), np.asarray(impostor, np.float64)
    for name, kind in (('genuine', genuine), ('impostor', impostor)):
        if not len(kind) or np.isnan(kind).any():
            raise ValueError(f'a ROC needs {name} scores that are numbers, got {len(kind)} with {int(np.isnan(kind).sum())} NaN')
    scores = np.concatenate([genuine, impostor])
    order = np.argsort(-scores)
    scores, accepted = scores[order], np.cumsum(order < len(genuine))
    last = np.append(np.flatnonzero(scores[:-1] != scores[1:]), len(scores) - 1)
    true_accepts = np.append(0, accepted[last])
    return Roc(
        np.append(np.inf, scores[last]), np.append(0, last + 1) - true_accepts, true_accepts, len(genuine), len(impostor))


def error_rates(genuine: np.ndarray, impostor: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FMR and FNMR, each in the shape of ``thresholds``, whose order is free."""
    thresholds = np.asarray(thresholds, np.float64)
    rejected_impostors = np.searchsorted(np.sort(np.asarray(impostor, np.float64)), thresholds, side='left')
    rejected_genuine = np.searchsorted(np.sort(np.asarray(genuine, np.float64)), thresholds, side='left')
    return (len(impostor) - rejected_impostors) / len(impostor), rejected_genuine / len(genuine)


def auc(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """The area under the ROC: the share of (genuine, impostor) pairs in the right order, ties counting one half."""
    impostor = np.sort(np.asarray(impostor, np.float64))
    below = np.searchsorted(impostor, genuine, side='left').sum(dtype=np.int64)
    not_above = np.searchsorted(impostor, genuine, side='right').sum(dtype=np.int64)
    return float(int(below) + int(not_above)) / (2 * len(genuine) * len(impostor))


def equal_error_rate(roc: Roc) -> EqualErrorRate:
    """The error rate where as large a share of impostors passes as of genuine pairs fails."""
    false_rejects = roc.genuine - roc.true_accepts
    # In units of 1 / (genuine * impostors) all of this is exact. The gap rises with every point, from -1 to 1.
    gap = roc.false_accepts * roc.genuine - false_rejects * roc.impostors
    at = int(np.argmin(np.abs(gap)))
    fmr, fnmr = float(roc.far[at]), float(false_rejects[at] / roc.genuine)
    after = int(np.searchsorted(gap, 0))
    share = 0 if gap[after] == 0 else -gap[after - 1] / (gap[after] - gap[after - 1])
    before = after if gap[after] == 0 else after - 1
    cross = roc.far[before] + share * (roc.far[after] - roc.far[before])
    return EqualErrorRate((fmr + fnmr) / 2, float(cross), float(roc.thresholds[at]), fmr, fnmr)

"""The receiver operating characteristic, without thinning, and what is read off it.

Conventions of the whole package: a score is a similarity, **accept when score >= threshold**, and

    FAR(t) = #{impostor >= t} / #impostor       TAR(t) = #{genuine >= t} / #genuine       FNMR = 1 - TAR, FMR = FAR

Counts are integers, shares fractions (0.01 is one percent). A score of -inf (a failure to enrol) counts and is never accepted.
"""
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Roc:
    """Every operating point that the scores can tell apart, from "accept nothing" to "accept all", as two sorted arrays.

    Made by :func:`roc_curve`. Counts at a threshold are looked up; the points themselves are listed only when somebody asks for them.

    Attributes:
        genuine_scores: float [G], rising.
        impostor_scores: float [H], rising: the H highest, or all of them.
        impostors: how many impostor scores there are.
    """
    genuine_scores: np.ndarray
    impostor_scores: np.ndarray
    impostors: int

    @property
    def genuine(self) -> int:
        """How many genuine scores there are."""
        return len(self.genuine_scores)

    @property
    def complete(self) -> bool:
        """Whether all impostor scores are here, or only the highest: then whatever needs a lower one raises ValueError."""
        return len(self.impostor_scores) == self.impostors

    def impostor(self, k: int) -> float:
        """The k-th highest impostor score, counted from 0; -inf where there are not so many."""
        if k >= self.impostors:
            return -np.inf
        if k >= len(self.impostor_scores):
            self._need_all(f'the score of rank {k + 1}')
        return float(self.impostor_scores[-1 - k])

    def false_accepts_at(self, threshold: float) -> int:
        """How many impostor scores reach the threshold."""
        count = _at_least(self.impostor_scores, threshold)
        if count == len(self.impostor_scores):
            self._need_all(f'the number of scores from {threshold:g} on')
        return count

    def true_accepts_at(self, threshold: float) -> int:
        """How many genuine scores reach the threshold."""
        return _at_least(self.genuine_scores, threshold)

    def lowest_above(self, score: float) -> float:
        """The lowest score of either kind above the given one, +inf where there is none."""
        return min(self.lowest_genuine_above(score), _next(self.impostor_scores, score))

    def lowest_genuine_above(self, score: float) -> float:
        """The lowest genuine score above the given one, +inf where there is none."""
        return _next(self.genuine_scores, score)

    @cached_property
    def thresholds(self) -> np.ndarray:
        """Float64 [K], falling: +inf, then every distinct score."""
        self._need_all('the list of points')
        scores = np.unique(np.concatenate([self.genuine_scores, self.impostor_scores]))
        return np.append(np.inf, scores[::-1])

    @cached_property
    def false_accepts(self) -> np.ndarray:
        """Int64 [K], impostors accepted at each threshold."""
        return self.impostors - np.searchsorted(self.impostor_scores, self.thresholds)

    @cached_property
    def true_accepts(self) -> np.ndarray:
        """Int64 [K], genuine ones accepted."""
        return self.genuine - np.searchsorted(self.genuine_scores, self.thresholds)

    @property
    def far(self) -> np.ndarray:
        """Float64 [K]: the share of impostors accepted."""
        return self.false_accepts / self.impostors

    @property
    def tar(self) -> np.ndarray:
        """Float64 [K]: the share of genuine pairs accepted."""
        return self.true_accepts / self.genuine

    @property
    def auc(self) -> float:
        """The area under the curve: the share of (genuine, impostor) pairs in the right order, ties counting one half."""
        self._need_all('the area')
        below, not_above = (np.searchsorted(self.impostor_scores, self.genuine_scores, side).sum(dtype=np.int64)
                            for side in ('left', 'right'))
        return float(int(below) + int(not_above)) / (2 * self.genuine * self.impostors)

    def _need_all(self, what: str) -> None:
        if not self.complete:
            raise ValueError(f'{what} cannot be told from the highest {len(self.impostor_scores)} of {self.impostors} impostor scores: '
                             'make the ROC with a larger max_far')


def roc_curve(genuine: np.ndarray, impostor: np.ndarray, max_far: float = 1.) -> Roc:
    """The ROC of two sets of scores, [G] and [I], with every distinct score as a threshold (-0.0 and 0.0 are one).

    Args:
        genuine: float32 or float64, compared as they are.
        impostor: likewise.
        max_far: a fraction; only the part of the curve up to this FAR is made, by selection instead of sorting. For millions of scores.

    Raises:
        ValueError: where either is empty or holds NaN.
    """
    genuine, impostor = (np.asarray(kind, None if np.asarray(kind).dtype == np.float32 else np.float64) for kind in (genuine, impostor))
    for name, kind in (('genuine', genuine), ('impostor', impostor)):
        if not len(kind) or np.isnan(kind).any():
            raise ValueError(f'a ROC needs {name} scores that are numbers, got {len(kind)} with {int(np.isnan(kind).sum())} NaN')
    kept = min(allowed(max_far, len(impostor)) + 1, len(impostor))
    if kept < len(impostor):
        highest = np.partition(impostor, len(impostor) - kept)[-kept:]
        highest.sort()
    else:
        highest = np.sort(impostor)
    return Roc(np.sort(genuine), highest, len(impostor))


def allowed(far: float, impostors: int) -> int:
    """The largest number of false accepts whose share of ``impostors`` does not exceed ``far``, as the quotient is rounded.

    Raises:
        ValueError: where ``far`` is no fraction.
    """
    if not 0 <= far <= 1:
        raise ValueError(f'a FAR is a fraction in [0, 1], got {far}')
    count = int(far * impostors)
    return count + int((count + 1) / impostors <= far) - int(count / impostors > far)


def error_rates(genuine: np.ndarray, impostor: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FMR and FNMR, each in the shape of ``thresholds``, whose order is free."""
    thresholds = np.asarray(thresholds, np.float64)
    rejected_impostors = np.searchsorted(np.sort(np.asarray(impostor, np.float64)), thresholds, side='left')
    rejected_genuine = np.searchsorted(np.sort(np.asarray(genuine, np.float64)), thresholds, side='left')
    return (len(impostor) - rejected_impostors) / len(impostor), rejected_genuine / len(genuine)


def auc(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """The area under the ROC of two sets of scores; see :attr:`Roc.auc`."""
    return roc_curve(genuine, impostor).auc


def _at_least(rising: np.ndarray, threshold: float) -> int:
    return len(rising) - _below(rising, threshold)


# Float32 scores are searched without a copy in float64: between a number and its rounding lies no score. And without the next larger
# number: where a training has denormals flushed, zero has none.


def _next(rising: np.ndarray, score: float) -> float:
    rounded = _rounded(rising, score)
    at = int(np.searchsorted(rising, rounded, side='left' if float(rounded) > score else 'right'))
    return float(rising[at]) if at < len(rising) else np.inf


def _below(rising: np.ndarray, threshold: float) -> int:
    """How many scores are below the threshold."""
    rounded = _rounded(rising, threshold)
    return int(np.searchsorted(rising, rounded, side='right' if float(rounded) < threshold else 'left'))


def _rounded(rising: np.ndarray, score: float) -> np.floating:
    with np.errstate(over='ignore'):
        return rising.dtype.type(score)

"""Open-set identification: who is recognised while strangers raise an alarm no more often than allowed, in the readings that are in use.

A search is **mated** when the gallery holds the person. FPIR is the share of the other searches with a candidate at or above the threshold,
TPIR that of mated ones whose mate is at rank 1 and at or above it; FNIR = 1 - TPIR.
"""
from dataclasses import dataclass
from math import ceil

import numpy as np

from .intervals import wilson_interval
from .roc import allowed


@dataclass(frozen=True)
class Searches:
    """What m mated and n other searches of one gallery found. A score is -inf where nothing was compared (a failure to enrol).

    Attributes:
        mate: float [m], the mate's score.
        rank: int64 [m], the mate's, from 1; candidates that score the same stand before it.
        stranger: float [n], the highest score of each search that has no mate.

    Raises:
        ValueError: where there are no searches of either kind.
    """
    mate: np.ndarray
    rank: np.ndarray
    stranger: np.ndarray

    def __post_init__(self) -> None:
        if not len(self.mate) or not len(self.stranger):
            raise ValueError(f'open-set rates need searches with and without a mate, got {len(self.mate)} and {len(self.stranger)}')

    def strict_threshold(self, fpir: float) -> float:
        """The lowest of all scores at which FPIR does not exceed ``fpir`` (a fraction); +inf where none is so high."""
        permitted = allowed(fpir, len(self.stranger))
        left_out = self.highest_stranger(permitted) if permitted < len(self.stranger) else -np.inf
        scores = np.append(self.mate, self.stranger)
        return float(np.min(scores[scores > left_out], initial=np.inf))

    def highest_stranger(self, k: int) -> float:
        """The k-th highest score of a search without mate, counted from 0."""
        return float(np.sort(self.stranger)[-1 - k])


@dataclass(frozen=True)
class OpenSetPoint:
    """One threshold and what it does; +inf accepts nobody."""
    fpir_target: float
    threshold: float
    false_alarms: int
    hits: int
    mated: int
    nonmated: int

    @property
    def fpir(self) -> float:
        """The share of strangers that raise an alarm."""
        return self.false_alarms / self.nonmated

    @property
    def tpir(self) -> float:
        """The share of mated searches that find the mate."""
        return self.hits / self.mated

    @property
    def tpir_ci95(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the TPIR, searches taken as independent."""
        return wilson_interval(self.hits, self.mated)

    @property
    def resolvable(self) -> bool:
        """Whether there are enough strangers for the target to allow a single alarm."""
        return self.fpir_target >= 1 / self.nonmated

    def to_dict(self) -> dict:
        """The record of a result."""
        return dict(
            fpir_target=self.fpir_target, fpir=self.fpir, similarity=self.threshold, tpir=self.tpir, tpir_ci95=list(self.tpir_ci95),
            mated=self.mated, nonmated=self.nonmated, false_alarms=self.false_alarms, resolvable=self.resolvable)


def tpir_at_fpir(searches: Searches, fpir: float) -> OpenSetPoint:
    """The strict reading, and ours: the lowest threshold, of all scores, at which FPIR does not exceed ``fpir`` (a fraction)."""
    return _at_or_above(searches, fpir, searches.strict_threshold(fpir))


def tpir_by_ijb_evals(searches: Searches, fpir: float) -> OpenSetPoint:
    """InsightFace's ``ijb_evals.py``: the k-th highest stranger, k = int(n fpir) but at least 1, and accept *above* it.

    FPIR therefore stays a step below the target, and the target's own step is never used.
    """
    threshold = searches.highest_stranger(max(int(len(searches.stranger) * fpir) - 1, 0))
    return _at_or_above(searches, fpir, threshold, np.greater)


def tpir_by_adaface(searches: Searches, fpir: float) -> OpenSetPoint:
    """AdaFace's IJB-S evaluation: the k-th highest stranger, k = int(n fpir); for k = 0 the highest plus 1e-8.

    Equal scores let FPIR exceed the target, and mates between the k-th stranger and the next are lost.
    """
    return _at_or_above(searches, fpir, _kth(searches, int(len(searches.stranger) * fpir)))


def tpir_by_pfe(searches: Searches, fpir: float) -> OpenSetPoint:
    """PFE's and CVLface's IJB-S evaluation: as :func:`tpir_by_adaface`, with k = round(n fpir)."""
    return _at_or_above(searches, fpir, _kth(searches, round(len(searches.stranger) * fpir)))


def tpir_by_ijb_1n(mate: np.ndarray, highest_others: np.ndarray, fpir: float) -> dict:
    """InsightFace's ``ijb_1n.py``, and AdaFace's: over the joined gallery, no rank asked for.

    The threshold is the ceil(Q fpir)-th highest of the similarities of *all* probes with all others in the gallery, and a mate above it is
    a hit: alarms are counted by comparisons, not by searches, and everybody has a mate.

    Args:
        mate: float [Q], the mate's score of every probe.
        highest_others: float, falling: the highest similarities of probes and gallery templates of two people, ceil(Q fpir) at least.
        fpir: a fraction.
    """
    threshold = float(highest_others[ceil(len(mate) * fpir) - 1])
    hits = int((mate > threshold).sum())
    return dict(fpir_target=float(fpir), similarity=threshold, tpir=hits / len(mate), tpir_ci95=list(wilson_interval(hits, len(mate))))


def _kth(searches: Searches, k: int) -> float:
    return searches.highest_stranger(k - 1) if k else searches.highest_stranger(0) + 1e-8


def _at_or_above(searches: Searches, fpir: float, threshold: float, accept: np.ufunc = np.greater_equal) -> OpenSetPoint:
    hits = accept(searches.mate, threshold) & (searches.rank == 1)
    return OpenSetPoint(float(fpir), threshold, int(accept(searches.stranger, threshold).sum()), int(hits.sum()),
                        len(searches.mate), len(searches.stranger))

"""How far genuine and impostor scores lie apart, and whether two networks differ in it."""
from typing import NamedTuple

import numpy as np


def d_prime(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """The decidability index d' = (mean genuine - mean impostor) / sqrt((variance genuine + variance impostor) / 2).

    J. Daugman and G. Williams, "A proposed standard for biometric decidability", CardTech/SecureTech 1996. It uses every score, not only
    those near a threshold, and so notices what an accuracy of 99 % does not.
    """
    spread = np.sqrt((np.var(genuine) + np.var(impostor)) / 2)
    return float((np.mean(genuine) - np.mean(impostor)) / spread)


class DPrimeDifference(NamedTuple):
    """d' of the first minus d' of the second, with its standard error, pairs taken as independent."""
    difference: float
    standard_error: float

    @property
    def z(self) -> float:
        """The difference in standard errors; 0 where both scores are the same."""
        return self.difference / self.standard_error if self.standard_error else 0.


def d_prime_difference(first: np.ndarray, second: np.ndarray, same: np.ndarray) -> DPrimeDifference:
    """Compares two networks' scores [N] of the same pairs, ``same`` bool [N] (the delta method on paired influences).

    Raises:
        ValueError: fewer than two pairs of a kind.
    """
    same = np.asarray(same, bool)
    if min(same.sum(), (~same).sum()) < 2:
        raise ValueError(f"d' needs two pairs of each kind, got {same.sum()} genuine and {(~same).sum()} impostor pairs")
    influences = [_influence(np.asarray(scores, np.float64), same) for scores in (first, second)]
    apart = influences[0] - influences[1]
    variance = sum(apart[kind].var(ddof=1) / kind.sum() for kind in (same, ~same))
    values = [d_prime(np.asarray(scores)[same], np.asarray(scores)[~same]) for scores in (first, second)]
    return DPrimeDifference(values[0] - values[1], float(np.sqrt(variance)))


def _influence(scores: np.ndarray, same: np.ndarray) -> np.ndarray:
    """How much each score moves d', times the number of its kind."""
    means, variances = ([statistic(scores[kind]) for kind in (same, ~same)] for statistic in (np.mean, np.var))
    spread = np.sqrt(sum(variances) / 2)
    by_variance = (means[0] - means[1]) / (4 * spread**3)
    centred = np.where(same, scores - means[0], scores - means[1])
    variance = np.where(same, *variances)
    return np.where(same, 1, -1) * centred / spread - by_variance * (centred**2 - variance)

"""How far an area under the ROC can be trusted."""
from math import exp, sqrt

import numpy as np

from .intervals import Interval, normal_quantile, wilson_interval
from .roc import Roc


def auc_interval(roc: Roc, confidence: float = 0.95) -> Interval:
    """For the area under the ROC: E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, Biometrics 44, 1988, on the logit scale, within [0, 1].

    Where the scores show no spread, as in perfect order, Wilson's interval of as many independent comparisons as the rarer kind has scores.
    """
    area, deviation = roc.auc, sqrt(_genuine_variance(roc) / max(roc.genuine - 1, 1) + _impostor_variance(roc) / max(roc.impostors - 1, 1))
    if not deviation:
        trials = min(roc.genuine, roc.impostors)
        return wilson_interval(round(area * trials), trials, confidence)
    half = normal_quantile(confidence) * deviation / (area * (1 - area))
    low, high = (1 / (1 + (1 - area) / area * exp(sign * half)) for sign in (1, -1))
    return low, high


def _genuine_variance(roc: Roc) -> float:
    """Of the shares of impostor scores below each genuine one, ties counting one half."""
    below, not_above = (np.searchsorted(roc.impostor_scores, roc.genuine_scores, side) for side in ('left', 'right'))
    return float(((below + not_above) / (2 * roc.impostors)).var())


def _impostor_variance(roc: Roc) -> float:
    """Of the shares of genuine scores below each impostor one: the same for all between two genuine scores, so that these are counted."""
    scores, counts = np.unique(roc.genuine_scores, return_counts=True)
    below, not_above = (np.searchsorted(roc.impostor_scores, scores, side) for side in ('left', 'right'))
    between = np.append(below, roc.impostors) - np.append(0, not_above)
    passed = np.append(0, np.cumsum(counts))
    number = np.append(between, not_above - below)
    share = np.append(passed, (passed[1:] + passed[:-1]) / 2) / roc.genuine
    mean = (number * share).sum() / roc.impostors
    return float((number * (share - mean)**2).sum() / roc.impostors)

"""Error rates as NIST's evaluations print them: FNMR at FMR, FNIR at FPIR, and points of the DET curve.

P. Grother et al., "Face Recognition Technology Evaluation", NIST, parts 1 and 2; ISO/IEC 19795-1. The headline points there are FNMR at
FMR 1e-6 (visa, border) and 1e-5 (wild), FNIR at FPIR 0.003 (identification) and at rank 1 without a threshold (investigation). A failure to
enrol is a score of -inf: it adds to FNMR and FNIR, and lowers FMR and FPIR.
"""
from typing import NamedTuple

import numpy as np
import torch

from .intervals import wilson_interval
from .open_set import Searches
from .operating_point import tar_at_far
from .roc import Roc


class DetCurve(NamedTuple):
    """K points by falling threshold: ``threshold``, ``fmr``, ``fnmr``, and the two rates as normal deviates; float64 [K] each.

    The curve is a step function of the threshold: its points are not to be joined by straight lines. A rate of 0 or 1 has the deviate
    -inf or +inf, which no paper can show: leave it out knowingly.
    """
    threshold: np.ndarray
    fmr: np.ndarray
    fnmr: np.ndarray
    fmr_deviate: np.ndarray
    fnmr_deviate: np.ndarray


def fnmr_at_fmr(roc: Roc, fmr: float) -> dict:
    """The lowest FNMR of a threshold whose FMR does not exceed ``fmr`` (a fraction).

    Returns:
        ``fmr_target, fmr, similarity, fnmr, fnmr_ci95`` (Wilson), ``genuine, impostors, false_matches, resolvable``.
    """
    point = tar_at_far(roc, fmr)
    misses = point.genuine - point.true_accepts
    return dict(
        fmr_target=point.far_target, fmr=point.far, similarity=point.threshold, fnmr=misses / point.genuine,
        fnmr_ci95=list(wilson_interval(misses, point.genuine)), genuine=point.genuine, impostors=point.impostors,
        false_matches=point.false_accepts, resolvable=point.resolvable)


def fnir_at_fpir(searches: Searches, fpir: float, max_rank: int = 1) -> dict:
    """The share of mated searches whose mate is missed at the lowest threshold whose FPIR does not exceed ``fpir`` (a fraction).

    Args:
        searches: of one gallery.
        fpir: 1 sets no threshold (investigation).
        max_rank: a mate below this rank is missed, whatever its score.

    Returns:
        ``fpir_target, fpir, similarity, fnir, fnir_ci95`` (Wilson), ``mated, nonmated, false_alarms, resolvable``.
    """
    threshold, mated, nonmated = searches.strict_threshold(fpir), len(searches.mate), len(searches.stranger)
    misses, alarms = int(((searches.mate < threshold) | (searches.rank > max_rank)).sum()), int((searches.stranger >= threshold).sum())
    return dict(
        fpir_target=float(fpir), fpir=alarms / nonmated, similarity=threshold, fnir=misses / mated,
        fnir_ci95=list(wilson_interval(misses, mated)), mated=mated, nonmated=nonmated, false_alarms=alarms,
        resolvable=fpir >= 1 / nonmated)


def det_curve(roc: Roc, thresholds: np.ndarray | None = None) -> DetCurve:
    """The error rates at the given thresholds, by default at every one that the scores tell apart."""
    at = roc.thresholds if thresholds is None else np.sort(np.asarray(thresholds, np.float64))[::-1]
    fmr = (roc.impostors - np.searchsorted(roc.impostor_scores, at)) / roc.impostors
    fnmr = np.searchsorted(roc.genuine_scores, at) / roc.genuine
    return DetCurve(at, fmr, fnmr, *(torch.special.ndtri(torch.from_numpy(rate)).numpy() for rate in (fmr, fnmr)))

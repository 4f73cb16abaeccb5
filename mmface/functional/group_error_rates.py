"""How differently groups of people fare at one threshold that all of them share.

NIST reports it so (P. Grother, M. Ngan, K. Hanaoka, "Face Recognition Vendor Test part 3: demographic effects", 2019): FMR over the
impostor pairs within a group, FNMR over its genuine pairs. Pairs between groups, the easier impostors, are counted and left out.
"""
from collections.abc import Sequence
from math import inf

import numpy as np

from .intervals import clopper_pearson_interval, ratio_interval, rule_of_three, wilson_interval

NONE = ''  #: the name of no group


def pair_groups(groups: Sequence[str], pairs: np.ndarray) -> np.ndarray:
    """The group of each pair, [N] names: that of both its images, or :data:`NONE` where they are of two groups or one is of none."""
    first, second = np.asarray(groups, str)[pairs].T
    return np.where(first == second, first, NONE)


def group_error_rates(similarity: np.ndarray, same: np.ndarray, group: np.ndarray, threshold: float) -> dict:
    """Error rates by group, accept when similarity >= threshold.

    Args:
        similarity: [N] scores.
        same: bool [N], whether a pair is genuine.
        group: [N] names, see :func:`pair_groups`.
        threshold: one for all.

    Returns:
        ``without_group``: how many pairs are of no group; ``by_group``: for each name, sorted, ``genuine, impostors`` and both error rates,
        see :func:`error_rate`; for ``fmr`` and ``fnmr`` the groups ``fmr_worst`` and ``fmr_best`` and the ratio of their rates
        ``fmr_worst_over_best`` with its interval, which does not know that the two were picked for being far apart. The ratio is inf where
        the best made no error, and None where nobody did or only one group was measured.
    """
    wrong = (similarity >= threshold) != same
    names = [str(name) for name in np.unique(group) if name != NONE]
    counts = {name: [(int((wrong & kind & (group == name)).sum()), int((kind & (group == name)).sum())) for kind in (same, ~same)]
              for name in names}  # yapf: disable
    rates = {}
    for name, (genuine, impostor) in counts.items():
        rates[name] = dict(genuine=genuine[1], impostors=impostor[1], **error_rate('fmr', *impostor), **error_rate('fnmr', *genuine))
    spread: dict = {}
    for key, at in (('fmr', 1), ('fnmr', 0)):
        spread |= _worst_over_best(key, {name: pair[at] for name, pair in counts.items() if pair[at][1]})
    return dict(without_group=int((group == NONE).sum()), **spread, by_group=rates)


def error_rate(name: str, errors: int, trials: int) -> dict:
    """``{name}``, its Wilson interval ``{name}_ci95``, the exact ``{name}_clopper_pearson95``, and ``{name}_errors``.

    Without errors also ``{name}_rule_of_three``, below which the rate lies with 95 % confidence. Without trials the rate is None.
    """
    if not trials:
        return {name: None, f'{name}_errors': 0}
    found: dict = {
        name: errors / trials,
        f'{name}_ci95': list(wilson_interval(errors, trials)),
        f'{name}_clopper_pearson95': list(clopper_pearson_interval(errors, trials)),
        f'{name}_errors': errors,
    }
    return found if errors else found | {f'{name}_rule_of_three': rule_of_three(trials)}


def _worst_over_best(name: str, counts: dict[str, tuple[int, int]]) -> dict:
    """Of errors and trials by group."""
    ranked = sorted(counts, key=lambda group: counts[group][0] / counts[group][1])
    if len(ranked) < 2 or not counts[ranked[-1]][0]:
        return {f'{name}_worst_over_best': None}
    best, worst = counts[ranked[0]], counts[ranked[-1]]
    return {
        f'{name}_worst': ranked[-1],
        f'{name}_best': ranked[0],
        f'{name}_worst_over_best': worst[0] / worst[1] / (best[0] / best[1]) if best[0] else inf,
        f'{name}_worst_over_best_ci95': list(ratio_interval(worst, best)),
    }

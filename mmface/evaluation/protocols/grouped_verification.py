"""Ten-fold verification within each group of people: RFW.

M. Wang, W. Deng, J. Hu, X. Tao, Y. Huang, "Racial Faces in the Wild", 2019, https://arxiv.org/abs/1812.00194: four sets of 6,000 pairs.
"""
import numpy as np

from mmface.functional.group_error_rates import NONE, pair_groups
from mmface.functional.intervals import mean_interval, ratio_interval
from mmface.functional.ten_fold import check_folds, fold_accuracy
from mmface.structures import PairSet

from .ten_fold_verification import TenFoldVerification, accuracy_numbers


class GroupedVerification(TenFoldVerification):
    """The accuracy of each group, by folds and thresholds of its own, beside what :class:`TenFoldVerification` reads off all pairs.

    ``accuracy`` is the mean of the groups' accuracies, ``accuracy_std`` their standard deviation (divided by their number), and
    ``max_error_ratio`` the largest error over the smallest: RFW's average, standard deviation and skewed error ratio. AUC, EER, TAR@FAR,
    VAL and the groups' FMR and FNMR at one threshold are over the pairs of all groups together.

    The arguments are those of :class:`TenFoldVerification`; a bootstrap draws people within the whole set.
    """
    name = 'grouped_verification'

    def check(self, pair_set: PairSet) -> None:
        """At least two groups, each with both kinds of pairs in each of at least two folds, and no pair outside."""
        group = _pair_groups(pair_set)
        outside = np.flatnonzero(group == NONE)
        if outside.size:
            raise ValueError(f'{pair_set.name}: pair {outside[0]} is of no group or of two; so are {outside.size} of {len(group)}')
        names = np.unique(group)
        if len(names) < 2:
            raise ValueError(f'{pair_set.name}: all pairs are of the group {names[0]}, there is nothing to compare')
        for name in names:
            check_folds(f'{pair_set.name}, {name}', pair_set.same[group == name], pair_set.fold[group == name])

    def accuracy(self, pair_set: PairSet, similarity: np.ndarray) -> dict:
        """``accuracy, accuracy_ci95, accuracy_std, max_error_ratio, max_error_ratio_ci95`` over groups and ``accuracy_by_group``.

        The last has for each name the entries of a :class:`TenFoldVerification` from ``folds`` to ``threshold``. The ratio is inf where a
        group has no error, and None where none has; its interval does not know that the two groups were picked for being far apart.
        """
        names = np.unique(_pair_groups(pair_set)).tolist()
        parts = {name: fold_accuracy(2 - 2 * similarity[at], pair_set.same[at], pair_set.fold[at], self.rule)
                 for name, at in zip(names, self.parts(pair_set), strict=True)}  # yapf: disable
        numbers = {name: accuracy_numbers(part) for name, part in parts.items()}
        right = {name: (int(part.correct.sum()), int(part.pairs.sum())) for name, part in parts.items()}
        accuracies = [one['accuracy'] for one in numbers.values()]
        return dict(
            accuracy=float(np.mean(accuracies)),
            accuracy_ci95=list(mean_interval(*right.values())),
            accuracy_std=float(np.std(accuracies)),
            **_error_ratio({name: (pairs - correct, pairs) for name, (correct, pairs) in right.items()},
                           {name: 1 - one['accuracy'] for name, one in numbers.items()}),
            accuracy_by_group=numbers)

    def parts(self, pair_set: PairSet) -> list[np.ndarray]:
        """The pairs of each group, by name."""
        group = _pair_groups(pair_set)
        return [group == name for name in np.unique(group)]


def _pair_groups(pair_set: PairSet) -> np.ndarray:
    if pair_set.groups is None:
        raise ValueError(f'{pair_set.name}: the set has no groups')
    return pair_groups(pair_set.groups, pair_set.pairs)


def _error_ratio(counts: dict[str, tuple[int, int]], errors: dict[str, float]) -> dict:
    worst, best = max(errors, key=lambda name: errors[name]), min(errors, key=lambda name: errors[name])
    if not counts[worst][0]:
        return dict(max_error_ratio=None)
    ratio = errors[worst] / errors[best] if counts[best][0] else float('inf')
    return dict(max_error_ratio=ratio, max_error_ratio_ci95=list(ratio_interval(counts[worst], counts[best])))

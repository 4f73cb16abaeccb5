"""Cross-validated accuracy over folds of pairs, by counting.

Throughout: ``distance`` float64 [N] in [0, 4] is a squared Euclidean distance of unit vectors, **accept when distance < threshold** (as the
LFW evaluators do), ``same`` bool [N], ``fold`` int [N] in 0 ... F-1 with both kinds of pairs in every fold. A fold is tested at the
threshold that the other folds choose.
"""
from typing import NamedTuple

import numpy as np

#: The thresholds that the field's evaluators try, and the finer ones of their VAL.
GRID, VAL_GRID = np.arange(0, 4, 0.01), np.arange(0, 4, 0.001)


class FoldAccuracy(NamedTuple):
    """Per fold: ``correct`` int64 [F] of ``pairs`` int64 [F] right at ``threshold`` float64 [F] (a squared distance)."""
    correct: np.ndarray
    pairs: np.ndarray
    threshold: np.ndarray


class FoldVal(NamedTuple):
    """Per fold: the shares of genuine (``val``) and impostor (``far``) pairs accepted, float64 [F]."""
    val: np.ndarray
    far: np.ndarray


def check_folds(name: str, same: np.ndarray, fold: np.ndarray) -> None:
    """Refuses what cross-validation cannot use.

    Raises:
        ValueError: fewer than two folds, or a fold without genuine or without impostor pairs; names the set and the fold.
    """
    folds = int(fold.max()) + 1
    if folds < 2:
        raise ValueError(f'{name}: cross-validation needs at least 2 folds, all {len(fold)} pairs are in fold 0')
    counts = np.stack([np.bincount(fold[of_kind], minlength=folds) for of_kind in (same, ~same)], 1)
    if not counts.all():
        at, kind = np.argwhere(counts == 0)[0]
        raise ValueError(f'{name}: fold {at} of {folds} has no {("genuine", "impostor")[kind]} pairs '
                         '(folds that follow the order of a list sorted by kind?)')


def fold_accuracy(distance: np.ndarray, same: np.ndarray, fold: np.ndarray, rule: str) -> FoldAccuracy:
    """Tests every fold at the threshold with most pairs right in the other folds, the lowest of several.

    Args:
        distance: see above.
        same: see above.
        fold: see above.
        rule: ``'grid'`` tries 0, 0.01, ... 3.99, as the literature does; ``'exact'`` the distinct distances of the other folds and +inf.
    """
    candidates = GRID if rule == 'grid' else np.append(np.unique(distance), np.inf)
    accepted_same = _accepted(distance[same], fold[same], fold, candidates)
    accepted_other = _accepted(distance[~same], fold[~same], fold, candidates)
    pairs, others = np.bincount(fold), np.bincount(fold[~same])
    correct = accepted_same + others[:, None] - accepted_other
    training = correct.sum(0) - correct
    if rule == 'exact':  # a distance that occurs in the tested fold alone is not for the others to choose
        here = np.zeros((len(pairs), len(candidates)), np.int64)
        np.add.at(here, (fold, np.searchsorted(candidates, distance)), 1)
        absent = here.sum(0) == here
        absent[:, -1] = False
        training[absent] = -1
    chosen = training.argmax(1)
    return FoldAccuracy(correct[np.arange(len(pairs)), chosen], pairs, candidates[chosen])


def fold_val(distance: np.ndarray, same: np.ndarray, fold: np.ndarray, far: float, rule: str) -> FoldVal:
    """VAL@FAR of the facenet lineage: thresholds 0, 0.001, ... 3.999, chosen by the FAR in the other folds.

    Args:
        distance: see above.
        same: see above.
        fold: see above.
        far: the target, a fraction.
        rule: ``'strict'`` takes the largest threshold whose FAR does not exceed the target. ``'peer'`` is what facenet and InsightFace
            mean: linear interpolation of the threshold between the last grid point at or below the target and the first one above it,
            and 0 where the target is never reached. Their code asks SciPy, which has refused since 1.9; this gives what 1.8.1 gave.
    """
    impostors = np.bincount(fold[~same])
    accepted = _accepted(distance[~same], fold[~same], fold, VAL_GRID)
    training = (accepted.sum(0) - accepted) / (impostors.sum() - impostors)[:, None]
    threshold = np.array([_val_threshold(row, far, rule) for row in training])
    passed = distance < threshold[fold]
    return FoldVal(
        np.bincount(fold[same & passed], minlength=len(impostors)) / np.bincount(fold[same]),
        np.bincount(fold[~same & passed], minlength=len(impostors)) / impostors)


def _val_threshold(training_far: np.ndarray, far: float, rule: str) -> float:
    above = int(np.searchsorted(training_far, far, side='right'))
    low = VAL_GRID[above - 1]
    if rule == 'strict':
        return low
    if training_far[-1] < far:
        return 0.
    if above == len(VAL_GRID):
        return low
    before = training_far[above - 1]
    return low + (far - before) / (training_far[above] - before) * (VAL_GRID[above] - low)


def _accepted(distance: np.ndarray, fold: np.ndarray, folds: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many distances lie below each of K rising thresholds, by fold: int64 [F, K]."""
    first = np.searchsorted(thresholds, distance, side='right')  # the first threshold above
    counts = np.zeros((int(folds.max()) + 1, len(thresholds) + 1), np.int64)
    np.add.at(counts, (fold, first), 1)
    return counts.cumsum(1)[:, :-1]

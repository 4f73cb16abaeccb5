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
    """Per fold: ``correct`` [F] of ``pairs`` [F] right at ``threshold`` float64 [F] (a squared distance)."""
    correct: np.ndarray
    pairs: np.ndarray
    threshold: np.ndarray


class FoldVal(NamedTuple):
    """Per fold: how many genuine and impostor pairs are accepted, and how many there are, int64 [F]."""
    true_accepts: np.ndarray
    false_accepts: np.ndarray
    genuine: np.ndarray
    impostors: np.ndarray

    @property
    def val(self) -> np.ndarray:
        """The share of genuine pairs accepted, float64 [F]."""
        return self.true_accepts / self.genuine

    @property
    def far(self) -> np.ndarray:
        """The share of impostor pairs accepted, float64 [F]."""
        return self.false_accepts / self.impostors


def check_folds(name: str, same: np.ndarray, fold: np.ndarray) -> None:
    """Refuses what cross-validation cannot use.

    Raises:
        ValueError: fewer than two folds, a set or a fold without genuine or without impostor pairs; names the set and the fold.
    """
    folds = int(fold.max()) + 1
    if folds < 2:
        raise ValueError(f'{name}: cross-validation needs at least 2 folds, all {len(fold)} pairs are in fold 0')
    for kind, what in ((same, 'impostor'), (~same, 'genuine')):
        if kind.all():
            raise ValueError(f'{name}: there is no {what} pair among {len(same)}')
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
    found = weighted_fold_accuracy(distance, same, fold, rule, np.ones((1, len(distance))))
    return FoldAccuracy(found.correct[0].astype(np.int64), found.pairs[0].astype(np.int64), found.threshold[0])


def weighted_fold_accuracy(distance: np.ndarray, same: np.ndarray, fold: np.ndarray, rule: str, weights: np.ndarray) -> FoldAccuracy:
    """:func:`fold_accuracy` of R sets at once, in which pair n stands ``weights[r, n]`` times; fields are [R, F].

    Counts are float64, exact for whole weights. Of a fold without pairs nothing is right, of none.
    """
    candidates, first = GRID, np.searchsorted(GRID, distance, side='right')  # the first threshold above
    if rule == 'exact':
        distances, place = np.unique(distance, return_inverse=True)
        candidates, first = np.append(distances, np.inf), place + 1
    folds = int(fold.max()) + 1
    accepted = _sums(np.where(same, weights, -weights), fold * (len(candidates) + 1) + first, folds * (len(candidates) + 1))
    accepted = accepted.reshape(len(weights), folds, -1).cumsum(2)[:, :, :-1]  # the right ones less the wrong ones
    correct = accepted + _sums(weights * ~same, fold, folds)[:, :, None]
    training = correct.sum(1, keepdims=True) - correct
    if rule == 'exact':  # a distance that occurs in the tested fold alone is not for the others to choose
        here = _sums(weights, fold * len(candidates) + first - 1, folds * len(candidates)).reshape(correct.shape)
        absent = here.sum(1, keepdims=True) == here
        absent[:, :, -1] = False
        training[absent] = -1
    chosen = training.argmax(2)
    return FoldAccuracy(np.take_along_axis(correct, chosen[:, :, None], 2)[:, :, 0], _sums(weights, fold, folds), candidates[chosen])


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
    true_accepts, false_accepts = (np.bincount(fold[kind & passed], minlength=len(impostors)) for kind in (same, ~same))
    return FoldVal(true_accepts, false_accepts, np.bincount(fold[same]), impostors)


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
    counts = np.bincount(fold * (len(thresholds) + 1) + first, minlength=(int(folds.max()) + 1) * (len(thresholds) + 1))
    return counts.reshape(-1, len(thresholds) + 1).cumsum(1)[:, :-1]


def _sums(weights: np.ndarray, at: np.ndarray, length: int) -> np.ndarray:
    """The weights [R, N] that fall on each of the places ``at`` [N]: float64 [R, length]."""
    return np.stack([np.bincount(at, row, length) for row in weights])

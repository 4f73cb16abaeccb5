"""Cross-validation by counting, against loops."""
import numpy as np
import pytest

from mmface.functional.ten_fold import check_folds, fold_accuracy, fold_val


def some_pairs(seed, folds=4, per_kind=6, digits=1):
    """Rounded distances: ties, and distances that sit on the grid."""
    random = np.random.default_rng(seed)
    same = np.tile(np.repeat([True, False], per_kind), folds)
    distance = np.clip(np.where(same, random.normal(1.1, 0.5, len(same)), random.normal(1.9, 0.4, len(same))), 0, 4)
    order = random.permutation(len(same))
    return np.round(distance, digits)[order], same[order], np.repeat(np.arange(folds), 2 * per_kind)[order]


def by_loops(distance, same, fold, rule):
    correct, thresholds = [], []
    for f in range(fold.max() + 1):
        training = fold != f
        candidates = [k * 0.01 for k in range(400)] if rule == 'grid' else [*sorted(set(distance[training])), np.inf]
        right = [sum((d < t) == s for d, s in zip(distance[training], same[training], strict=True)) for t in candidates]
        thresholds.append(candidates[right.index(max(right))])
        correct.append(sum((d < thresholds[-1]) == s for d, s in zip(distance[~training], same[~training], strict=True)))
    return correct, thresholds


@pytest.mark.parametrize('rule', ['grid', 'exact'])
@pytest.mark.parametrize('seed, digits', [(0, 1), (1, 1), (2, 2), (3, 6), (4, 6)])
def test_accuracy_and_thresholds_are_those_of_a_loop(rule, seed, digits):
    distance, same, fold = some_pairs(seed, digits=digits)
    found = fold_accuracy(distance, same, fold, rule)
    correct, thresholds = by_loops(distance, same, fold, rule)
    np.testing.assert_array_equal(found.correct, correct)
    np.testing.assert_allclose(found.threshold, thresholds, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.pairs, 12)


def test_a_distance_of_the_tested_fold_is_not_a_candidate():
    # Accepting everything below 1.9 is right for the training fold; 1.2 occurs in the tested one alone, between 1 and 1.9.
    distance, same = np.array([1.0, 1.9, 1.0, 1.2]), np.array([True, False, True, False])
    found = fold_accuracy(distance, same, np.array([0, 0, 1, 1]), 'exact')
    np.testing.assert_array_equal(found.threshold, [1.2, 1.9])
    np.testing.assert_array_equal(found.correct, [2, 1])


def test_accepting_everything_is_an_exact_threshold():
    distance, same, fold = np.array([1., 0.5, 1, 0.5, 1, 1]), np.array([True, False, True, False, True, True]), np.array([0, 0, 1, 1, 0, 1])
    assert fold_accuracy(distance, same, fold, 'exact').threshold.tolist() == [np.inf, np.inf]


def val_by_loops(distance, same, fold, far, rule):
    val, reached = [], []
    for f in range(fold.max() + 1):
        training = (fold != f) & ~same
        fars = [sum(distance[training] < k * 0.001) / sum(training) for k in range(4000)]
        below = max(k for k in range(4000) if fars[k] <= far)
        threshold = below * 0.001
        if rule == 'peer':
            if max(fars) < far:
                threshold = 0
            elif below < 3999:
                threshold += 0.001 * (far - fars[below]) / (fars[below + 1] - fars[below])
        val.append(np.mean(distance[(fold == f) & same] < threshold))
        reached.append(np.mean(distance[(fold == f) & ~same] < threshold))
    return val, reached


@pytest.mark.parametrize('rule', ['strict', 'peer'])
@pytest.mark.parametrize('far', [1e-3, 0.1, 1 / 9, 0.5, 1])
def test_val_is_that_of_a_loop(rule, far):
    distance, same, fold = some_pairs(5, digits=6)
    found = fold_val(distance, same, fold, far, rule)
    val, reached = val_by_loops(distance, same, fold, far, rule)
    np.testing.assert_allclose(found.val, val, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.far, reached, rtol=0, atol=1e-12)


def test_the_peer_rule_accepts_nothing_where_the_target_is_never_reached():
    distance, same, fold = np.array([1, 3.9995, 1, 3.9995]), np.array([True, False, True, False]), np.array([0, 0, 1, 1])
    assert fold_val(distance, same, fold, 0.5, 'peer').val.tolist() == [0, 0]
    assert fold_val(distance, same, fold, 0.5, 'strict').val.tolist() == [1, 1]


def test_the_peer_rule_is_the_interpolation_that_scipy_gave():
    from scipy.interpolate import interp1d
    impostors = np.array([0.5, 1.0, 1.5, 2.0])  # in the other fold: thresholds are found on one fold and tested on its twin
    distance = np.concatenate([[0.3, 0.9], impostors] * 2)
    same, fold = np.tile([True, True, False, False, False, False], 2), np.repeat([0, 1], 6)
    grid = np.arange(0, 4, 0.001)
    far = (impostors[:, None] < grid).mean(0)
    last_of_level = np.flatnonzero(np.append(np.diff(far) > 0, True))
    first_of_level = np.append(0, last_of_level[:-1] + 1)
    kept = np.unique(np.append(last_of_level, first_of_level))
    spread = far[kept] + np.where(np.isin(kept, last_of_level), 1e-13, 0)  # SciPy >= 1.9 wants distinct abscissae
    for target in (0.1, 0.4, 0.7):
        threshold = interp1d(spread, grid[kept], kind='slinear')(target)
        found = fold_val(distance, same, fold, target, 'peer')
        np.testing.assert_allclose(found.val, (distance[:2] < threshold).mean(), rtol=0, atol=1e-12)


def test_a_fold_of_one_kind_is_named():
    same, fold = np.array([True, False, True, True]), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match='lfw: fold 1 of 2 has no impostor pairs'):
        check_folds('lfw', same, fold)
    with pytest.raises(ValueError, match='lfw: fold 1 of 3 has no genuine pairs'):
        check_folds('lfw', np.array([True, False, True, False]), np.array([0, 0, 2, 2]))
    with pytest.raises(ValueError, match='at least 2 folds'):
        check_folds('lfw', np.array([True, False]), np.array([0, 0]))

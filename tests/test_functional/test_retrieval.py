"""Average precision, against scikit-learn and against the loop that the trapezoid comes from."""
import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from mmface.functional.normal_interval import normal_interval
from mmface.functional.retrieval import average_precision


def some_lists(seed):
    """Whether each place of each of 12 lists is a mate; at least one is."""
    relevant = np.random.default_rng(seed).random((12, 30)) < 0.15
    relevant[:, seed] = True
    return relevant


def found(relevant):
    probe, place = np.nonzero(relevant)
    shuffled = np.random.default_rng(9).permutation(len(probe))
    return average_precision(probe[shuffled], place[shuffled] + 1, len(relevant))


@pytest.mark.parametrize('seed', range(4))
def test_the_step_is_scikit_learns(seed):
    relevant = some_lists(seed)
    wanted = [average_precision_score(row, -np.arange(30)) for row in relevant]
    np.testing.assert_allclose(found(relevant).step, wanted, rtol=1e-12)


@pytest.mark.parametrize('seed', range(4))
def test_the_trapezoid_is_that_of_the_loop_over_places(seed):
    relevant = some_lists(seed)
    for row, value in zip(relevant, found(relevant).trapezoid, strict=True):
        area, recall, precision, hits = 0., 0., 1., 0
        for place, mate in enumerate(row):
            hits += mate
            new_recall, new_precision = hits / row.sum(), hits / (place + 1)
            area += (new_recall - recall) * (precision + new_precision) / 2
            recall, precision = new_recall, new_precision
        assert value == pytest.approx(area, rel=1e-12)


def test_the_trapezoid_is_never_larger():
    for seed in range(4):
        trapezoid, step = found(some_lists(seed))
        assert (trapezoid <= step + 1e-15).all() and (trapezoid < step).any()


def test_the_interval_of_a_mean_holds_it_about_as_often_as_it_says():
    random, held = np.random.default_rng(0), []
    for _ in range(500):
        low, high = normal_interval(random.random(60))
        held.append(low <= 0.5 <= high)
    assert 0.92 < np.mean(held) < 0.98
    assert normal_interval(np.array([0.3])) == (0, 1)

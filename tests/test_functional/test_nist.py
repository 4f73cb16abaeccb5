"""NIST's rates, against counting by hand and SciPy."""
import numpy as np
import pytest
import scipy.stats

from mmface.functional.intervals import wilson_interval
from mmface.functional.nist import det_curve, fnir_at_fpir, fnmr_at_fmr
from mmface.functional.open_set import Searches
from mmface.functional.roc import roc_curve


def some_scores(seed):
    random = np.random.default_rng(seed)
    return np.append(np.round(random.normal(0.6, 0.3, 50), 1), -np.inf), np.round(random.normal(0.1, 0.3, 90), 1)


@pytest.mark.parametrize('seed', range(3))
def test_fnmr_at_fmr_is_the_lowest_that_keeps_the_target(seed):
    genuine, impostor = some_scores(seed)
    for fmr in (0, 0.01, 0.1, 0.5, 1):
        allowed = [t for t in (np.inf, *genuine[:-1], *impostor) if np.mean(impostor >= t) <= fmr]
        found = fnmr_at_fmr(roc_curve(genuine, impostor), fmr)
        assert found['fnmr'] == min(np.mean(genuine < t) for t in allowed)
        assert found['fmr'] == np.mean(impostor >= found['similarity']) <= fmr
        assert found['fnmr_ci95'] == list(wilson_interval(round(found['fnmr'] * 51), 51))
        assert found['resolvable'] == (fmr >= 1 / 90)


@pytest.mark.parametrize('max_rank', [1, 3])
def test_fnir_at_fpir_counts_low_ranks_and_low_scores(max_rank):
    random = np.random.default_rng(0)
    searches = Searches(np.round(random.normal(0.6, 0.3, 40), 1), random.integers(1, 6, 40), np.round(random.normal(0.2, 0.3, 20), 1))
    for fpir in (0, 0.003, 0.1, 0.5):
        found = fnir_at_fpir(searches, fpir, max_rank)
        t = min(t for t in (np.inf, *searches.mate, *searches.stranger) if np.mean(searches.stranger >= t) <= fpir)
        assert (found['similarity'], found['fpir']) == (t, np.mean(searches.stranger >= t))
        assert found['fnir'] == np.mean((searches.mate < t) | (searches.rank > max_rank))


def test_investigation_has_no_threshold():
    searches = Searches(np.array([0.9, -0.5, -np.inf]), np.array([1, 1, 9]), np.array([0.1]))
    assert fnir_at_fpir(searches, 1)['fnir'] == pytest.approx(1 / 3)  # the failure to enrol


def test_the_det_curve_counts_and_deviates():
    genuine, impostor = some_scores(0)
    for thresholds in (None, [0.3, -0.2, 0.7]):
        curve = det_curve(roc_curve(genuine, impostor), thresholds)
        assert (np.diff(curve.threshold) < 0).all()
        np.testing.assert_array_equal(curve.fmr, [np.mean(impostor >= t) for t in curve.threshold])
        np.testing.assert_array_equal(curve.fnmr, [np.mean(genuine < t) for t in curve.threshold])
        np.testing.assert_allclose(curve.fmr_deviate, scipy.stats.norm.ppf(curve.fmr), rtol=1e-12)
        np.testing.assert_allclose(curve.fnmr_deviate, scipy.stats.norm.ppf(curve.fnmr), rtol=1e-12)

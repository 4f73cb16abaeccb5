"""Intervals against the reference, SciPy, and how often they hold the truth."""
import json

import numpy as np
import pytest
import scipy.stats

from mmface.functional.auc_interval import auc_interval
from mmface.functional.intervals import clopper_pearson_interval, mean_interval, ratio_interval, rule_of_three, wilson_interval
from mmface.functional.roc import auc, roc_curve

exactly = dict(rel=0, abs=1e-12)


def test_the_intervals_are_those_of_the_reference(shared):
    cases = json.loads((shared / 'reference/fixtures/scores/expected.json').read_text())['intervals']
    assert len(cases) == 7
    for case in cases:
        assert clopper_pearson_interval(case['k'], case['n']) == pytest.approx(case['clopper_pearson95'], **exactly)
        assert wilson_interval(case['k'], case['n']) == pytest.approx(case['wilson95'], **exactly)
        if case['rule_of_three_upper'] is not None:
            assert rule_of_three(case['n']) == case['rule_of_three_upper']


@pytest.mark.parametrize('function, method', [(wilson_interval, 'wilson'), (clopper_pearson_interval, 'exact')])
@pytest.mark.parametrize('confidence', [0.9, 0.95, 0.99])
def test_a_proportions_interval_is_scipys(function, method, confidence):
    for successes, trials in ((0, 1), (1, 1), (0, 30), (7, 30), (30, 30), (1563, 15638932)):
        expected = scipy.stats.binomtest(successes, trials).proportion_ci(confidence, method)
        found = function(successes, trials, confidence)
        assert found == pytest.approx((expected.low, expected.high), rel=1e-8, abs=1e-15)  # theirs is a root search


@pytest.mark.parametrize('function', [wilson_interval, clopper_pearson_interval])
@pytest.mark.parametrize('successes, trials', [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_proportion_is_refused(function, successes, trials):
    with pytest.raises(ValueError, match='not a proportion'):
        function(successes, trials)


def test_the_rule_of_three_is_the_exact_one_sided_bound():
    for trials in (100, 3000, 10**6):
        assert rule_of_three(trials) == pytest.approx(1 - 0.05**(1 / trials), rel=0.02)
    with pytest.raises(ValueError, match='not a proportion'):
        rule_of_three(0)


def coverage(interval, first, second, truth):
    """How often the interval of two drawn counts holds the truth."""
    random = np.random.default_rng(0)
    draws = zip(random.binomial(first[1], first[0], 1500), random.binomial(second[1], second[0], 1500), strict=True)
    held = []
    for a, b in draws:
        low, high = interval((int(a), first[1]), (int(b), second[1]))
        held.append(low <= truth <= high)
    return np.mean(held)


@pytest.mark.parametrize('first, second', [((.01, 3000), (.005, 3000)), ((.1, 300), (.05, 200)), ((.5, 50), (.4, 50))])
def test_intervals_of_two_proportions_hold_the_truth_as_often_as_they_say(first, second):
    assert 0.93 < coverage(ratio_interval, first, second, first[0] / second[0]) < 0.98
    assert 0.93 < coverage(mean_interval, first, second, (first[0] + second[0]) / 2) < 0.98


def test_a_ratio_with_nothing_in_it_has_the_bounds_that_are_left():
    assert ratio_interval((0, 10), (0, 10)) == (0, float('inf'))
    low, high = ratio_interval((3, 10), (0, 10))
    assert 0 < low < 3
    assert high == float('inf')
    assert ratio_interval((0, 10), (3, 10))[0] == 0
    assert ratio_interval((30, 100), (10, 100))[0] > 1 > ratio_interval((10, 100), (30, 100))[1]


def test_a_mean_of_one_proportion_is_its_own_interval():
    assert mean_interval((3, 30)) == pytest.approx(wilson_interval(3, 30))


def test_an_areas_interval_is_delongs():
    """The variance from every single comparison, as DeLong, DeLong and Clarke-Pearson wrote it."""
    random = np.random.default_rng(0)
    genuine, impostor = np.round(random.normal(1, 1, 40), 1), np.round(random.normal(0, 1, 60), 1)
    psi = np.array([[(g > i) + (g == i) / 2 for i in impostor] for g in genuine])
    deviation = np.sqrt(psi.mean(1).var(ddof=1) / 40 + psi.mean(0).var(ddof=1) / 60)
    area = psi.mean()
    centre, half = np.log(area / (1 - area)), scipy.stats.norm.ppf(0.975) * deviation / area / (1 - area)
    expected = [1 / (1 + np.exp(-centre - sign * half)) for sign in (-1, 1)]
    assert auc_interval(roc_curve(genuine, impostor)) == pytest.approx(expected, rel=1e-12)


def test_an_areas_interval_holds_the_truth_as_often_as_it_says():
    random, truth, held = np.random.default_rng(0), scipy.stats.norm.cdf(2 / np.sqrt(2)), []
    for _ in range(600):
        low, high = auc_interval(roc_curve(random.normal(2, 1, 150), random.normal(0, 1, 200)))
        held.append(low <= truth <= high)
    assert 0.92 < np.mean(held) < 0.98


@pytest.mark.parametrize('genuine, impostor', [([3., 4], [0., 1, 2]), ([0.], [1.]), ([1., 1], [1., 1, 1])])
def test_scores_without_spread_still_leave_doubt(genuine, impostor):
    low, high = auc_interval(roc_curve(genuine, impostor))
    assert low <= auc(genuine, impostor) <= high
    assert high - low > 0.5

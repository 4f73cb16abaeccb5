"""Error rates by group against counting, and what is said where nothing was measured."""
import numpy as np
import pytest

from mmface.functional.group_error_rates import error_rate, group_error_rates, pair_groups
from mmface.functional.intervals import clopper_pearson_interval, ratio_interval, wilson_interval


def some_pairs(seed=0, count=400):
    random = np.random.default_rng(seed)
    same = random.random(count) < 0.5
    return np.round(random.normal(0.6 * same, 0.4), 2), same, random.choice(['north', 'south', 'west', ''], count)


def test_rates_are_those_of_counting():
    similarity, same, group = some_pairs()
    found = group_error_rates(similarity, same, group, 0.3)
    assert list(found['by_group']) == ['north', 'south', 'west']
    assert found['without_group'] == sum(name == '' for name in group)
    for name, rates in found['by_group'].items():
        members = [(s, kind) for s, kind, g in zip(similarity, same, group, strict=True) if g == name]
        false_matches, impostors = sum(s >= 0.3 for s, kind in members if not kind), sum(not kind for _, kind in members)
        misses, genuine = sum(s < 0.3 for s, kind in members if kind), sum(bool(kind) for _, kind in members)
        assert (rates['impostors'], rates['genuine']) == (impostors, genuine)
        assert (rates['fmr_errors'], rates['fnmr_errors']) == (false_matches, misses)
        assert (rates['fmr'], rates['fnmr']) == (false_matches / impostors, misses / genuine)
        assert rates['fmr_ci95'] == list(wilson_interval(false_matches, impostors))
        assert rates['fnmr_clopper_pearson95'] == list(clopper_pearson_interval(misses, genuine))


@pytest.mark.parametrize('name', ['fmr', 'fnmr'])
def test_the_worst_is_compared_with_the_best(name):
    found = group_error_rates(*some_pairs(), 0.3)
    rates = {group: one[name] for group, one in found['by_group'].items()}
    assert rates[found[f'{name}_worst']] == max(rates.values())
    assert rates[found[f'{name}_best']] == min(rates.values())
    assert found[f'{name}_worst_over_best'] == pytest.approx(max(rates.values()) / min(rates.values()))
    trials = dict(fmr='impostors', fnmr='genuine')[name]
    counts = [(found['by_group'][group][f'{name}_errors'], found['by_group'][group][trials]) for group in (found[f'{name}_worst'],
                                                                                                           found[f'{name}_best'])]
    assert found[f'{name}_worst_over_best_ci95'] == list(ratio_interval(*counts))


def test_a_score_at_the_threshold_is_accepted():
    found = group_error_rates(np.array([0.5, 0.5]), np.array([True, False]), np.array(['a', 'a']), 0.5)['by_group']['a']
    assert (found['fmr'], found['fnmr']) == (1, 0)


def test_a_pair_of_two_groups_or_of_none_is_of_no_group():
    pairs = np.array([[0, 1], [0, 2], [2, 2], [3, 3], [0, 3]])
    assert pair_groups(['a', 'a', 'b', ''], pairs).tolist() == ['a', '', 'b', '', '']


def test_without_errors_the_rule_of_three_bounds_the_rate():
    assert error_rate('fmr', 0, 3000) == dict(
        fmr=0, fmr_ci95=list(wilson_interval(0, 3000)), fmr_clopper_pearson95=list(clopper_pearson_interval(0, 3000)), fmr_errors=0,
        fmr_rule_of_three=0.001)
    assert 'fmr_rule_of_three' not in error_rate('fmr', 1, 3000)


def test_what_was_not_measured_is_none_not_zero():
    similarity, same, group = np.array([.9, .1, .8, .7]), np.array([True, False, True, True]), np.array(['a', 'a', 'b', 'b'])
    found = group_error_rates(similarity, same, group, 0.5)
    assert found['by_group']['b']['fmr'] is None
    assert found['fmr_worst_over_best'] is None  # one group alone has impostors
    assert found['fnmr_worst_over_best'] is None  # nobody errs


def test_a_best_group_without_errors_makes_the_ratio_infinite_with_a_lower_bound():
    similarity, same = np.array([.1] * 5 + [.9] * 95 + [.9] * 100), np.ones(200, bool)
    found = group_error_rates(similarity, same, np.repeat(['bad', 'good'], 100), 0.5)
    assert (found['fnmr_worst'], found['fnmr_best'], found['fnmr_worst_over_best']) == ('bad', 'good', np.inf)
    low, high = found['fnmr_worst_over_best_ci95']
    assert 0.5 < low < 5
    assert high == np.inf

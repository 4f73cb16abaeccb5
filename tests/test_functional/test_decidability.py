"""d' and the difference of two networks in it."""
import numpy as np
import pytest

from mmface.functional.decidability import d_prime, d_prime_difference


def scores(seed=0, pairs=400, noise=.05):
    rng = np.random.default_rng(seed)
    same = rng.random(pairs) < .4
    first = rng.normal(np.where(same, .5, .05), np.where(same, .15, .1))
    return first, first * .95 + rng.normal(0, noise, pairs), same


def test_it_is_the_distance_of_the_means_in_units_of_the_common_spread():
    assert d_prime(np.array([1., 3.]), np.array([-1., 1.])) == 2


def test_the_standard_error_is_that_of_the_paired_bootstrap():
    first, second, same = scores()
    found = d_prime_difference(first, second, same)
    rng, drawn = np.random.default_rng(1), []
    for _ in range(3000):
        take = np.concatenate([rng.choice(np.flatnonzero(kind), kind.sum()) for kind in (same, ~same)])
        values = [d_prime(one[take][same[take]], one[take][~same[take]]) for one in (first, second)]
        drawn.append(values[0] - values[1])
    assert found.standard_error == pytest.approx(np.std(drawn), rel=.08)
    assert found.difference == d_prime(first[same], first[~same]) - d_prime(second[same], second[~same])


def test_pairing_shows_what_two_separate_errors_would_hide():
    first, second, same = scores(noise=.01)
    unpaired = np.hypot(*(d_prime_difference(one, np.zeros_like(one) + np.arange(len(one)) * 1e-9, same).standard_error
                          for one in (first, second)))  # yapf: disable
    assert d_prime_difference(first, second, same).standard_error < unpaired / 3


def test_the_same_scores_do_not_differ():
    first, _, same = scores()
    assert d_prime_difference(first, first, same).z == 0


def test_one_pair_of_a_kind_says_nothing():
    with pytest.raises(ValueError, match='1 genuine'):
        d_prime_difference(np.arange(3.), np.arange(3.), np.array([True, False, False]))

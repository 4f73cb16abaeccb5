"""McNemar's test against SciPy's binomial test."""
import numpy as np
import pytest
import scipy.stats

from mmface.functional.mcnemar import mcnemar_test


@pytest.mark.parametrize('share', [0.5, 0.6, 0.9])
def test_the_p_value_is_that_of_a_fair_coin_on_the_pairs_that_differ(share):
    random = np.random.default_rng(0)
    first = random.random(500) < 0.95
    second = np.where(random.random(500) < 0.1, random.random(500) < share, first)
    only_first, only_second, p_value = mcnemar_test(first, second)
    assert only_first == sum(a and not b for a, b in zip(first, second, strict=True))
    assert only_second == sum(b and not a for a, b in zip(first, second, strict=True))
    assert p_value == pytest.approx(scipy.stats.binomtest(only_first, only_first + only_second).pvalue)
    assert mcnemar_test(second, first) == (only_second, only_first, p_value)


def test_models_that_never_differ_are_no_surprise():
    right = np.array([True, False, True])
    assert mcnemar_test(right, right) == (0, 0, 1)
    assert mcnemar_test(np.array([True]), np.array([False]))[2] == 1

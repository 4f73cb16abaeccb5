"""Correlation and its interval."""
import math

import numpy as np
import pytest

from mmface.apis.lab.correlation import correlate


def ranks(values):
    return np.argsort(np.argsort(values)).astype(float)


def test_the_numbers_are_those_of_the_definitions():
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = x**3 + rng.normal(size=40)
    found = correlate(np.append(x, np.nan), np.append(y, 1.))
    r = ((x - x.mean()) * (y - y.mean())).sum() / math.sqrt(((x - x.mean())**2).sum() * ((y - y.mean())**2).sum())
    assert found.pearson == pytest.approx(r)
    assert found.spearman == pytest.approx(np.corrcoef(ranks(x), ranks(y))[0, 1])
    half = 1.959963984540054 / math.sqrt(37)
    assert (found.low, found.high) == pytest.approx((math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)))
    assert found.pairs == 40


@pytest.mark.parametrize(('x', 'y'), [(np.ones(9), np.arange(9.)), (np.arange(3.), np.arange(3.)), (np.full(9, np.nan), np.arange(9.))])
def test_there_is_none_of_a_constant_or_of_too_few(x, y):
    assert np.isnan(correlate(x, y)[:4]).all()

"""The six zones."""
import numpy as np
import pytest

from mmface.apis.lab.zones import ZONES, zones


@pytest.mark.parametrize('seed', range(3))
def test_each_sample_is_in_one_zone_and_rows_and_columns_are_of_one_size(seed):
    rng = np.random.default_rng(seed)
    norm, angle = rng.normal(20, 3, 600), rng.uniform(20, 90, 600)
    where, (half, first, second) = zones(norm, angle)
    assert set(where) == set(range(6))
    np.testing.assert_array_equal(np.bincount(where // 3), 300)
    np.testing.assert_array_equal(np.bincount(where % 3), 200)
    for at in range(600):
        length, difficulty = ZONES[where[at]].split(', ')
        assert length == ('high norm' if norm[at] >= half else 'low norm')
        assert difficulty == ('easy' if angle[at] < first else 'hard' if angle[at] >= second else 'medium')


def test_equal_samples_are_in_one_zone():
    assert len(set(zones(np.ones(10), np.ones(10))[0])) == 1

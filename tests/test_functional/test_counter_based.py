"""Counter-based random numbers."""
import numpy as np
import pytest
import torch

from mmface.functional.counter_based import normal, uniform


def test_number_depends_on_its_place_alone():
    index = torch.arange(100)
    whole = uniform(7, 3, index)
    torch.testing.assert_close(uniform(7, torch.tensor(3), index[40:60]), whole[40:60], rtol=0, atol=0)
    for other in (uniform(8, 3, index), uniform(7, 4, index), uniform(3, 7, index)):
        assert not torch.isin(other, whole).any()


def test_numbers_are_uniform_and_uncorrelated():
    kstest = pytest.importorskip('scipy.stats').kstest
    grid = torch.stack([uniform(0, step, torch.arange(500)) for step in range(200)]).numpy()
    assert kstest(grid.ravel(), 'uniform').pvalue > 1e-3
    assert abs(np.corrcoef(grid[:, :-1].ravel(), grid[:, 1:].ravel())[0, 1]) < .015
    assert abs(np.corrcoef(grid[:-1].ravel(), grid[1:].ravel())[0, 1]) < .015
    assert kstest(normal(1, 0, torch.arange(20000)).numpy(), 'norm').pvalue > 1e-3


def test_numbers_stay_inside_the_open_interval():
    numbers = uniform(-1, 2**40, torch.arange(100000))
    assert numbers.min() > 0
    assert numbers.max() < 1

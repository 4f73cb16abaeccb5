"""Replicated prototypes under DistributedDataParallel: two processes do what one does with the whole batch."""
import engines_on_ranks
import pytest
import torch
from torch import multiprocessing


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp('ranks')
    multiprocessing.spawn(engines_on_ranks.main, (2, str(folder)), nprocs=2)
    return [torch.load(folder / f'{rank}.pt') for rank in range(2)]


@pytest.mark.parametrize('case', engines_on_ranks.CASES)
def test_two_processes_do_what_one_does_with_the_whole_batch(case, results):
    expected = engines_on_ranks.train(case, 0, 1)
    losses = torch.stack([result[case].pop('losses') for result in results]).mean(0)
    torch.testing.assert_close(losses, expected.pop('losses'), rtol=1e-10, atol=0)
    for result in results:
        torch.testing.assert_close(result[case], expected, rtol=1e-9, atol=1e-11)

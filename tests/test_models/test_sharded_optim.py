"""Optimiser wrappers where ranks share the classes: one norm, one decision, the steps of one process."""
import pytest
import sharded_optim
import torch
from torch import nn

from mmface.runtime.optim.clip_norm import clip_norm

pytestmark = pytest.mark.slow


@pytest.mark.parametrize('case', sharded_optim.OPTIMIZERS)
def test_clipped_and_accumulated_steps_are_those_of_one_process(case, shared_classes):
    expected = sharded_optim.train(case)
    for world in (1, 2, 3):
        for rank in shared_classes[world]:
            torch.testing.assert_close(rank['optim'][case], expected, rtol=1e-8, atol=1e-10)


def test_a_step_that_overflows_on_one_rank_is_skipped_on_all(shared_classes):
    for world in (1, 2, 3):
        for rank in shared_classes[world]:
            assert rank['overflow'] == [(512., False), (512., True)]


def test_mixed_precision_follows_one_process(shared_classes):
    expected = sharded_optim.mixed()
    for world in (1, 2, 3):
        for rank in shared_classes[world]:
            torch.testing.assert_close(rank['mixed'], expected, rtol=0, atol=2e-3)
            torch.testing.assert_close(rank['mixed'], shared_classes[world][0]['mixed'], rtol=0, atol=0)


@pytest.mark.parametrize('norm_type', [2., torch.inf])
def test_an_empty_shard_has_no_part_in_the_norm(norm_type):
    network, shard = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(0, 3))
    network.grad, shard.grad = torch.tensor([3., -4.]), torch.zeros(0, 3)
    assert float(clip_norm([network, shard], {shard}, max_norm=1., norm_type=norm_type)) == torch.linalg.vector_norm(
        torch.tensor([3., 4.]), norm_type)

"""Differentiable collectives against the same sums in one process."""
import pytest
import torch
from sharded_ranks import chain_inputs, chain_outcome, chain_part


@pytest.mark.slow
def test_sums_and_their_gradients_are_those_of_one_process(shared_classes):
    for world, ranks in shared_classes.items():
        x = chain_inputs()[:world].requires_grad_()
        total = x.clamp(-3, 3).sum(0)
        lse = torch.stack([chain_part(row, total, rank) for rank, row in enumerate(x)]).logsumexp(0)
        gradients, = torch.autograd.grad(chain_outcome(lse), x, allow_unused=True) if world > 1 else [torch.zeros_like(x)]
        gradients[:, 2] = 0  # all are -inf there: torch's own is NaN
        for found, gradient in zip((rank['chained'] for rank in ranks), gradients, strict=True):
            torch.testing.assert_close(found, dict(total=total.detach(), lse=lse.detach(), gradient=gradient), rtol=1e-12, atol=1e-12)

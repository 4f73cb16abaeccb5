"""An optimiser that is shown drawn rows alone does with them what the textbook says, and nothing to the others."""
import copy

import pytest
import torch
from torch import nn

from mmface.runtime.optim import FaceOptimWrapper
from mmface.runtime.optim.drawn_rows import drawn_rows

ROWS, DIM = 12, 3


def gradients(steps=5):
    """For every step the drawn rows and their gradients."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        drawn = torch.rand(ROWS, generator=generator).lt(.6).nonzero().squeeze(1)
        yield drawn, torch.randn(len(drawn), DIM, generator=generator)


def parameter():
    return nn.Parameter(torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(1)))


def sparse(drawn, values):
    return torch.sparse_coo_tensor(drawn.unsqueeze(0), values, (ROWS, DIM), is_coalesced=True, check_invariants=True)


def textbook_sgd(w, lr, momentum, weight_decay):
    velocity = torch.zeros_like(w)
    for drawn, gradient in gradients():
        for row, g in zip(drawn.tolist(), gradient, strict=True):
            velocity[row] = momentum * velocity[row] + g + weight_decay * w[row]
            w[row] = w[row] - lr * velocity[row]
    return w


def textbook_adamw(w, lr, weight_decay, betas=(.9, .999), eps=1e-8):
    first, second = torch.zeros_like(w), torch.zeros_like(w)
    for count, (drawn, gradient) in enumerate(gradients(), start=1):
        for row, g in zip(drawn.tolist(), gradient, strict=True):
            first[row] = betas[0] * first[row] + (1 - betas[0]) * g
            second[row] = betas[1] * second[row] + (1 - betas[1]) * g * g
            unbiased = first[row] / (1 - betas[0]**count), second[row] / (1 - betas[1]**count)
            w[row] = (1 - lr * weight_decay) * w[row] - lr * unbiased[0] / (unbiased[1].sqrt() + eps)
    return w


@pytest.mark.parametrize('fused', [False, True])
@pytest.mark.parametrize('optimizer, textbook, arguments', [
    (torch.optim.SGD, textbook_sgd, dict(lr=.1, momentum=.9, weight_decay=.05)),
    (torch.optim.SGD, textbook_sgd, dict(lr=.1, momentum=0., weight_decay=0.)),
    (torch.optim.AdamW, textbook_adamw, dict(lr=.1, weight_decay=.05)),
], ids=['SGD', 'plain SGD', 'AdamW'])
def test_steps_are_a_dense_loop_over_the_drawn_rows(optimizer, textbook, arguments, fused):
    w, bystander = parameter(), nn.Parameter(torch.ones(2))
    optimizer = optimizer([w, bystander], **arguments, fused=fused)
    for drawn, gradient in gradients():
        w.grad, bystander.grad = sparse(drawn, gradient), torch.ones(2)
        before, state = w.detach().clone(), copy.deepcopy(optimizer.state[w])
        with drawn_rows(optimizer):
            optimizer.step()
        rest = torch.ones(ROWS, dtype=torch.bool).index_fill(0, drawn, False)
        assert (w[rest] == before[rest]).all()
        for key, value in state.items():
            assert value.dim() == 0 or (optimizer.state[w][key][rest] == value[rest]).all()
        assert bystander.max() < 1
    torch.testing.assert_close(w.detach(), textbook(parameter().detach(), **arguments))
    assert optimizer.param_groups[0]['params'][0] is w and set(optimizer.state) <= {w, bystander}


def test_all_rows_drawn_is_a_dense_step():
    dense, rows = parameter(), parameter()
    optimizers = [torch.optim.AdamW([p], lr=.1, fused=True) for p in (dense, rows)]
    for _, gradient in zip(range(3), torch.randn(3, ROWS, DIM), strict=True):
        dense.grad, rows.grad = gradient, sparse(torch.arange(ROWS), gradient.clone())
        optimizers[0].step()
        with drawn_rows(optimizers[1]):
            optimizers[1].step()
    assert (dense == rows).all()


def test_the_state_can_be_saved_and_loaded():
    def run(p, optimizer, steps):
        for drawn, gradient in steps:
            p.grad = sparse(drawn, gradient)
            with drawn_rows(optimizer):
                optimizer.step()

    steps = list(gradients())
    whole, first = parameter(), parameter()
    run(whole, torch.optim.AdamW([whole], lr=.1), steps)
    optimizer = torch.optim.AdamW([first], lr=.1)
    run(first, optimizer, steps[:2])
    second = nn.Parameter(first.detach().clone())
    resumed = torch.optim.AdamW([second], lr=.1)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(second, resumed, steps[2:])
    assert (second == whole).all()


def test_gradients_are_accumulated_and_clipped_over_the_drawn_rows():
    w = parameter()
    wrapper = FaceOptimWrapper(torch.optim.SGD([w], lr=1., weight_decay=.1), accumulative_counts=2, clip_grad=dict(max_norm=.5))
    start, total = w.detach().clone(), torch.zeros(ROWS, DIM)
    drawn_at_all = set()
    for drawn, gradient in list(gradients())[:2]:
        wrapper.update_params((torch.nn.functional.embedding(drawn, w, sparse=True) * gradient).sum())
        total[drawn] += gradient / 2
        drawn_at_all |= set(drawn.tolist())
    total *= .5 / total.norm()
    index = torch.tensor(sorted(drawn_at_all))
    expected = start.clone()
    expected[index] -= total[index] + .1 * start[index]
    torch.testing.assert_close(w.detach(), expected, rtol=1e-5, atol=1e-6)
    assert w.grad is None


def test_a_row_that_was_drawn_twice_is_stepped_once_with_the_sum():
    w, dense = parameter(), parameter()
    w.grad = torch.sparse_coo_tensor(torch.tensor([[3, 5, 3]]), torch.ones(3, DIM), (ROWS, DIM), check_invariants=True)
    dense.grad = w.grad.to_dense()
    optimizers = [torch.optim.SGD([p], lr=.1, momentum=.9) for p in (w, dense)]
    optimizers[1].step()
    with drawn_rows(optimizers[0]):
        optimizers[0].step()
    assert (w == dense).all()


def test_a_step_that_fails_leaves_the_parameters_in_their_places():
    w = parameter()
    optimizer = torch.optim.SGD([w], lr=.1)
    w.grad = sparse(torch.tensor([1]), torch.ones(1, DIM))
    with pytest.raises(RuntimeError, match='on purpose'), drawn_rows(optimizer):
        raise RuntimeError('on purpose')
    assert optimizer.param_groups[0]['params'][0] is w and not optimizer.state

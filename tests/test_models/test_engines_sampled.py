"""The sample of classes: which are drawn, that nothing else is touched, and that the rest is as exact as ever."""
import copy

import pytest
import torch
from engines import assert_steps_agree, build, rows, step

from mmface.models import SampledEngine

CLASSES, DIM = 60, 8
ENGINE = dict(type='SampledEngine', ratio=.2, chunk_size=7, mode='store')


def head_and_rows(loss='ArcFaceLoss', **arguments):
    return build(dict(ENGINE, **arguments), dict(type=loss), CLASSES, DIM), *rows(10, CLASSES, DIM)


def draw(head, x, y):
    """The classes that a training step draws, as its gradient tells."""
    head.zero_grad()
    head.compute_loss(x, y)['loss'].backward()
    return head.weight.grad.coalesce().indices().squeeze(0)


def test_the_classes_of_the_batch_are_always_drawn():
    head, x, y = head_and_rows()
    for _ in range(5):
        assert set(y[y >= 0].tolist()) <= set(draw(head, x, y).tolist())


def test_the_others_are_drawn_with_the_probability_given():
    head = build(dict(ENGINE, ratio=.1), dict(type='NormFaceLoss'), 20000, 2)
    x, y = rows(4, 20000, 2)
    draws = torch.stack([torch.zeros(20000).index_fill(0, draw(head, x, y), 1) for _ in range(20)])
    share = draws.mean().item()
    assert abs(share - .1) < 4 * (.1 * .9 / draws.numel())**.5 + 3 / 20000
    # Over 20 steps a class is drawn 2 +- 1.34 times, if steps are independent.
    assert abs(draws.sum(0).std().item() - (20 * .1 * .9)**.5) < .05


def test_a_draw_depends_on_seed_and_step_alone():
    first, x, y = head_and_rows()
    second, _, _ = head_and_rows(loss='CosFaceLoss')
    draws = [draw(first, x, y).tolist() for _ in range(4)]
    assert draws == [draw(second, -x, y).tolist() for _ in range(4)]
    assert len({tuple(d) for d in draws}) == 4
    assert draws[0] != draw(head_and_rows(seed=1)[0], x, y).tolist()


def test_a_saved_head_goes_on_drawing_where_it_stopped():
    head, x, y = head_and_rows()
    draw(head, x, y)
    saved = copy.deepcopy(head.state_dict())
    expected = [draw(head, x, y).tolist() for _ in range(3)]
    resumed, _, _ = head_and_rows()
    resumed.load_state_dict(saved)
    assert [draw(resumed, x, y).tolist() for _ in range(3)] == expected


def test_evaluation_looks_at_all_classes_and_draws_none():
    head, x, y = head_and_rows()
    plain = build(dict(type='DenseEngine'), dict(type='ArcFaceLoss'), CLASSES, DIM)
    assert_steps_agree(step(head.eval(), x, y), step(plain.eval(), x, y), 1e-10)
    assert head.engine.step == 0


@pytest.mark.parametrize('mode', ['store', 'recompute'])
@pytest.mark.parametrize('centers', [1, 2])
@pytest.mark.parametrize('loss', ['ArcFaceLoss', 'SoftmaxLoss', 'CurricularFaceLoss', 'UniFaceLoss'])
def test_a_step_is_that_of_the_plain_form_with_the_drawn_classes_alone(loss, centers, mode):
    x, y = rows(10, CLASSES, DIM)
    arguments = dict(num_centers=centers)
    head = build(dict(ENGINE, mode=mode), dict(type=loss), CLASSES, DIM, **arguments)
    actual, state = step(head, x, y)
    prototypes = head.weight.grad.coalesce().indices().squeeze(0)
    classes = (prototypes[::centers] // centers)
    assert (prototypes == (classes.unsqueeze(1) * centers + torch.arange(centers)).flatten()).all()

    small = build(dict(type='DenseEngine'), dict(type=loss), len(classes), DIM, **arguments)
    for name, parameter in small.loss_module.named_parameters():  # they start from the number of classes
        parameter.data.copy_(head.loss_module.get_parameter(name))
    small.weight.data.copy_(head.weight[prototypes])
    if small.bias is not None:
        small.bias.data.copy_(head.bias[classes])
    expected = step(small, x, torch.where(y >= 0, torch.searchsorted(classes, y), -1))
    for name, index in (('weight', prototypes), ('bias', classes)):
        if name in actual:
            rest = torch.ones(len(actual[name]), dtype=torch.bool).index_fill(0, index, False)
            assert not actual[name][rest].any()
            actual[name] = actual[name][index]
    assert_steps_agree((actual, state), expected, 1e-10)


def test_the_bias_gets_a_gradient_of_the_drawn_classes_alone():
    head, x, y = head_and_rows('SoftmaxLoss')
    classes = draw(head, x, y)
    assert head.bias.grad.is_sparse
    assert head.bias.grad.coalesce().indices().squeeze(0).tolist() == classes.tolist()


def test_draws_accumulate():
    head, x, y = head_and_rows()
    one, other = (step(head, x, y)[0]['weight'] for _ in range(2))
    head.engine.step.zero_()
    head.zero_grad()
    for _ in range(2):
        head.compute_loss(x, y)['loss'].backward()
    torch.testing.assert_close(head.weight.grad.to_dense(), one + other)


def test_a_gradient_of_drawn_rows_takes_the_memory_of_the_last_one():
    head, x, y = head_and_rows(ratio=1.)
    draw(head, x, y)
    first = head.weight.grad._values().data_ptr()
    draw(head, x, y)
    assert head.weight.grad._values().data_ptr() == first


def test_no_class_at_all_may_be_drawn():
    head, x, y = head_and_rows(ratio=1e-9)
    x.requires_grad_()
    loss = head.compute_loss(x, torch.full_like(y, -1))['loss']
    loss.backward()
    assert loss == 0 and head.weight.grad._nnz() == 0 and not x.grad.any()


@pytest.mark.parametrize('ratio', [0., 1.5])
def test_a_share_outside_its_range_is_refused(ratio):
    with pytest.raises(ValueError, match=rf'ratio must lie in \(0, 1\], got {ratio}'):
        SampledEngine(ratio=ratio)

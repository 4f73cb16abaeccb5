"""What every registered loss must do, whatever its formula: this file names none that it does not have to."""
import copy
import inspect

import pytest
import torch
from ranks import Ranks
from registered import LOSSES

import mmface.models  # noqa: F401  (registers the losses)
from mmface.models import DenseEngine
from mmface.registry import MODELS

CLASSES, DIM = 7, 5

#: Arguments under which the gradient is the derivative of the value everywhere.
SMOOTH = dict(
    GBCosFaceLoss=dict(detach_boundary=False),
    SCFLoss=dict(dim=DIM),
    SphereFace2Loss=dict(detach_margin=False),
    SphereFaceRLoss=dict(detach_margin=False))

every_loss = pytest.mark.parametrize('name', LOSSES)


def build(name, dtype=torch.float64, **arguments):
    head = MODELS.build(dict(type='FaceClsHead', num_classes=CLASSES, in_channels=DIM, init_std=1., loss=dict(type=name, **arguments)))
    return head.to(dtype)


def rows(count=6, dtype=torch.float64, seed=1):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    return (torch.randn(count, DIM, generator=generator, dtype=torch.float64) * 9).to(dtype), labels


def step(head, x, y, autocast=None):
    """The loss and all gradients of a step."""
    x = x.detach().requires_grad_()
    with torch.autocast('cpu', autocast, enabled=autocast is not None):
        loss = head.compute_loss(x, y)['loss']
    gradients = torch.autograd.grad(loss, [x, *(p for p in head.parameters())], allow_unused=True)
    return loss.detach(), [g for g in gradients if g is not None]


def state(head):
    return {name: value.clone() for name, value in head.loss_module.named_buffers()}


def assert_equal_states(first, second):
    for name in first:
        torch.testing.assert_close(first[name], second[name], rtol=1e-12, atol=0, equal_nan=True, msg=name)


def test_the_losses_of_the_papers_are_registered():
    assert len(LOSSES) >= 21


@every_loss
def test_mean_is_the_mean_of_the_losses_per_sample(name):
    x, y = rows()
    mean, each = build(name).compute_loss(x, y)['loss'], build(name).compute_loss(x, y, reduction='none')['loss']
    assert each.shape == y.shape
    torch.testing.assert_close(mean, each.mean())


@every_loss
def test_renumbering_the_classes_changes_nothing(name):
    x, y = rows()
    head, renumbered = build(name), build(name)
    order = torch.randperm(CLASSES, generator=torch.Generator().manual_seed(0))
    renumbered.weight.data[order] = head.weight.data
    torch.testing.assert_close(head.compute_loss(x, y)['loss'], renumbered.compute_loss(x, order[y])['loss'], rtol=1e-12, atol=0)


@every_loss
def test_gradient_is_the_derivative_of_the_value(name):
    loss = MODELS.build(dict(type=name, num_classes=CLASSES, **SMOOTH.get(name, {}))).double().eval()
    x, y = rows()
    prototypes = torch.randn(CLASSES, DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    bias = torch.linspace(-1, 1, CLASSES, dtype=torch.float64).requires_grad_() if loss.use_bias else None
    # AdaFace takes the norm as a constant on purpose.
    inputs = [prototypes, *loss.parameters()] + ([] if name == 'AdaFaceLoss' else [x.requires_grad_()]) + ([bias] if loss.use_bias else [])

    def total(*_):
        return loss(*DenseEngine()(x, y, prototypes, bias, loss)).sum()

    # A factor brings steep losses to the size that gradcheck's absolute tolerance is made for.
    scale = float(torch.autograd.grad(total(), prototypes)[0].abs().max())
    assert torch.autograd.gradcheck(lambda *_: total() / scale, inputs, eps=1e-7, atol=1e-5)


@pytest.mark.parametrize('dtype', [torch.float32, torch.float64], ids=str)
@every_loss
def test_gradient_is_finite_at_cosine_one_and_minus_one_and_at_zero(name, dtype):
    head = build(name, dtype)
    head.weight.data[:3] = torch.tensor([[1., 0, 0, 0, 0], [-1., 0, 0, 0, 0], [1., 0, 0, 0, 0]])
    x = torch.tensor([[30., 0, 0, 0, 0], [30., 0, 0, 0, 0], [0., 0, 0, 0, 0], [-.01, 0, 0, 0, 0]], dtype=dtype)
    y = torch.tensor([0, 1, 3, 4])  # target at +1 with a negative at -1, target at -1 with negatives at +1, no direction, short
    loss, gradients = step(head, x, y)
    assert loss.isfinite()
    assert all(g.isfinite().all() for g in gradients)


@every_loss
def test_batch_of_one_gives_finite_values_and_leaves_finite_state(name):
    head = build(name)
    x, y = rows()
    _, gradients = step(head, x[:1], y[:1])
    assert all(g.isfinite().all() for g in gradients)
    assert all(value.isfinite() for value in state(head).values())
    loss, _ = step(head, x, y)
    assert loss.isfinite()


@every_loss
def test_ignored_rows_contribute_nothing_to_loss_gradients_and_state(name):
    x, y = rows()
    ignored = torch.tensor([True, False, False, True, False, False])
    with_ignored, without = build(name), build(name)
    for _ in range(2):
        loss, (dx, *others) = step(with_ignored, x, y.masked_fill(ignored, -1))
        expected_loss, (expected_dx, *expected_others) = step(without, x[~ignored], y[~ignored])
        torch.testing.assert_close(loss, expected_loss)
        torch.testing.assert_close(dx[~ignored], expected_dx)
        assert not dx[ignored].any()
        torch.testing.assert_close(others, expected_others)
    assert_equal_states(state(with_ignored), state(without))


@every_loss
def test_batch_without_a_labelled_row_is_zero_and_leaves_the_statistics(name):
    head = build(name)
    x, y = rows()
    step(head, x, y)
    before = state(head)
    loss, gradients = step(head, x, torch.full_like(y, -1))
    assert loss == 0
    assert not any(g.any() for g in gradients)
    assert_equal_states({k: v for k, v in before.items() if v.is_floating_point()}, state(head))


@every_loss
def test_overflowed_step_leaves_the_statistics_finite(name):
    head = build(name)
    x, y = rows()
    step(head, x, y)
    step(head, x.index_fill(0, torch.tensor([2]), torch.nan), y)
    assert all(value.isfinite() for value in state(head).values())


@every_loss
def test_state_moves_in_train_mode_only(name):
    head = build(name)
    before = state(head)
    x, y = rows()
    head.eval()
    step(head, x, y)
    assert_equal_states(before, state(head))
    head.train()
    step(head, x, y)
    assert all(not torch.equal(before[key], value) for key, value in state(head).items())


@every_loss
def test_state_continues_from_a_checkpoint(name):
    x, y = rows()
    head, resumed = build(name), build(name)
    for seed in (2, 3):
        step(head, *rows(seed=seed))
    resumed.load_state_dict(head.state_dict())
    torch.testing.assert_close(step(head, x, y), step(resumed, x, y), rtol=0, atol=0)
    assert_equal_states(state(head), state(resumed))


@every_loss
def test_buffers_and_parameters_follow_double_but_not_half(name):
    loss = build(name, torch.float32).loss_module
    own = [*loss.parameters(), *(b for b in loss.buffers() if b.is_floating_point())]
    assert all(tensor.dtype == torch.float32 for tensor in own)
    for change in (loss.half, loss.bfloat16):
        change()
        assert all(t.dtype == torch.float32 for t in (*loss.parameters(), *loss.buffers()) if t.is_floating_point())
    loss.double()
    assert all(t.dtype == torch.float64 for t in (*loss.parameters(), *loss.buffers()) if t.is_floating_point())


@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16], ids=str)
@every_loss
def test_autocast_gives_the_fp32_loss_of_the_rounded_embeddings(name, dtype):
    head = build(name, torch.float32)
    x, y = rows()
    x[0] *= 30  # a sum of squares that overflows in fp16
    rounded = x.to(dtype)
    expected, expected_gradients = step(copy.deepcopy(head), rounded.float(), y)
    loss, (dx, *gradients) = step(head, rounded, y, autocast=dtype)
    torch.testing.assert_close(loss, expected, rtol=1e-3, atol=0)
    torch.testing.assert_close([dx, *gradients], [expected_gradients[0].to(dtype), *expected_gradients[1:]])


@pytest.mark.parametrize('engine', [dict(type='DenseEngine'), dict(type='FusedEngine', mode='recompute')], ids=lambda e: e['type'])
@every_loss
def test_two_forwards_may_precede_the_backwards(name, engine):
    head, in_turn = build(name), build(name)
    head.engine = MODELS.build(engine)
    batches = [rows(seed=2), rows(seed=3)]
    expected = [step(in_turn, *batch)[1] for batch in batches]
    losses = [head.compute_loss(x.requires_grad_(), y)['loss'] for x, y in batches]
    for (x, _), loss, (dx, *_) in zip(batches, losses, expected, strict=True):
        torch.testing.assert_close(torch.autograd.grad(loss, x)[0], dx)


@every_loss
def test_scale_must_be_positive(name):
    parameters = inspect.signature(MODELS.get(name)).parameters
    for symbol in ('s', 'r', 'alpha', 'radius'):
        if symbol in parameters:
            with pytest.raises(ValueError, match=f'{name}: .*{symbol}'):
                MODELS.build(dict(type=name, num_classes=CLASSES, **{symbol: -1.}))


@pytest.mark.parametrize('name, arguments', [
    *((name, {}) for name in LOSSES), ('ElasticFaceLoss', dict(plus=True)), ('P2SGradLoss', dict(reduction='literal'))], ids=str)
def test_statistics_and_draws_are_those_of_the_global_batch(name, arguments):
    x, y = rows()
    prototypes = torch.randn(CLASSES, DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    whole = MODELS.build(dict(type=name, num_classes=CLASSES, **arguments)).double()
    bias = torch.zeros(CLASSES, dtype=torch.float64) if whole.use_bias else None
    split, ranks = [copy.deepcopy(whole) for _ in range(2)], Ranks(2)
    for loss in split:
        loss.sum_over_batch, loss.rows_before = ranks.sum, ranks.before

    for _ in range(2):
        expected = whole(*DenseEngine()(x, y, prototypes, bias, whole)).detach()
        parts = ranks.run(lambda loss, rows: loss(*DenseEngine()(x[rows], y[rows], prototypes, bias, loss)).detach(),
                          [(split[0], slice(0, 2)), (split[1], slice(2, None))])
        torch.testing.assert_close(torch.cat(parts), expected, rtol=1e-10, atol=1e-12)
    for loss in split:
        torch.testing.assert_close(loss.state_dict(), whole.state_dict(), rtol=1e-12, atol=0)

"""Who owns which memory: of the gradient, of the one C x B buffer, and of nothing else."""
import copy
import gc
import pickle

import pytest
import torch
from engines import LargeAllocations, build, rows, step
from mmengine.logging import MMLogger

from mmface.models import FusedEngine
from mmface.models.engines.lent_memory import LentMemory

LOSS = dict(type='CosFaceLoss', s=8.)
STORE, RECOMPUTE = (dict(type='FusedEngine', mode=mode, chunk_size=8) for mode in ('store', 'recompute'))
CLASSES, DIM = 96, 16

both_modes = pytest.mark.parametrize('engine', [STORE, RECOMPUTE], ids=['store', 'recompute'])


def head_and_rows(engine, **arguments):
    return build(engine, LOSS, CLASSES, DIM, torch.float32, **arguments), *rows(12, CLASSES, DIM)


def backward(head, x, y, **arguments):
    head.compute_loss(x.to(head.weight.dtype), y)['loss'].backward(**arguments)


def reference(engine, times=1):
    """The gradient of the prototypes by the plain form, in float32, after ``times`` backward passes."""
    head, x, y = head_and_rows(dict(type='DenseEngine'))
    for _ in range(times):
        backward(head, x, y)
    return head.weight.grad


def assert_near(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-7)


def address(tensor):
    return tensor.untyped_storage().data_ptr()


@both_modes
def test_a_gradient_takes_the_memory_of_the_last_one(engine):
    head, x, y = head_and_rows(engine)
    backward(head, x, y)
    first = address(head.weight.grad)
    head.zero_grad()
    backward(head, x, y)
    assert address(head.weight.grad) == first
    assert_near(head.weight.grad, reference(engine))


@both_modes
def test_no_second_array_as_large_as_the_prototypes_is_made(engine):
    head, x, y = head_and_rows(engine)
    for expected in (1, 0):  # the memory of the gradient, once and for all
        head.zero_grad()
        with LargeAllocations(CLASSES * DIM) as made:
            backward(head, x, y)
        assert made.count == expected


def test_recompute_makes_no_array_of_classes_by_rows_and_store_makes_one():
    for engine, expected in ((STORE, 1), (RECOMPUTE, 0)):
        head, x, y = head_and_rows(engine)
        wide = x.repeat(8, 1)  # more rows than dimensions
        backward(head, wide, y.repeat(8))
        head.zero_grad()
        head.engine._buffer.release()
        with LargeAllocations(CLASSES * 8 * len(x[y >= 0])) as made:
            backward(head, wide, y.repeat(8))
        assert made.count == expected


@both_modes
def test_gradients_accumulate(engine):
    head, x, y = head_and_rows(engine)
    for _ in range(3):
        backward(head, x, y)
    assert_near(head.weight.grad, reference(engine, times=3))


@both_modes
def test_gradients_that_are_zeroed_in_place_stay_apart_from_new_ones(engine):
    head, x, y = head_and_rows(engine)
    for _ in range(2):
        head.zero_grad(set_to_none=False)
        backward(head, x, y)
        assert_near(head.weight.grad, reference(engine))


@both_modes
def test_backward_may_run_twice(engine):
    head, x, y = head_and_rows(engine)
    loss = head.compute_loss(x.float(), y)['loss']
    loss.backward(retain_graph=True)
    loss.backward()
    assert_near(head.weight.grad, reference(engine, times=2))


@both_modes
def test_an_earlier_result_of_autograd_keeps_its_values(engine):
    head, x, y = head_and_rows(engine)
    first, = torch.autograd.grad(head.compute_loss(x.float(), y)['loss'], head.weight)
    second, = torch.autograd.grad(head.compute_loss(2 * x.float(), (y + 1) % CLASSES)['loss'], head.weight)
    assert address(first) != address(second)
    assert_near(first, reference(engine))


@both_modes
def test_a_view_of_a_gradient_keeps_its_values(engine):
    head, x, y = head_and_rows(engine)
    backward(head, x, y)
    row = head.weight.grad[3:5]
    head.weight.grad = None
    backward(head, 2 * x, (y + 1) % CLASSES)
    assert_near(row, reference(engine)[3:5])


@both_modes
def test_two_graphs_may_be_alive_at_once(engine):
    head, x, y = head_and_rows(engine)
    other = head.compute_loss(-x.float(), y)['loss']
    backward(head, x, y)
    assert_near(head.weight.grad, reference(engine))
    head.zero_grad()
    other.backward()
    plain, *_ = head_and_rows(dict(type='DenseEngine'))
    backward(plain, -x, y)
    assert_near(head.weight.grad, plain.weight.grad)


@both_modes
@pytest.mark.parametrize('wanted', ['embeddings', 'weight', 'target only'])
def test_part_of_the_gradients_can_be_asked_for(wanted, engine):
    results = []
    for e in (engine, dict(type='DenseEngine')):
        head, x, y = head_and_rows(e)
        x = x.float().requires_grad_()
        target, statistic = head.engine(x, y.clamp_min(0), head.weight, None, head.loss_module)
        value = target.similarity.sum() if wanted == 'target only' else head.loss_module(target, statistic).sum()
        torch.autograd.grad(value, x, retain_graph=True)
        results.append(torch.autograd.grad(value, x if wanted == 'embeddings' else head.weight)[0])
    assert_near(*results)


@both_modes
def test_constant_prototypes_and_constant_embeddings_get_no_gradient(engine):
    head, x, y = head_and_rows(engine)
    x = x.float().requires_grad_()
    expected = step(head, x, y)[0]
    head.weight.requires_grad_(False)
    constant = step(head, x, y)[0]
    assert 'weight' not in constant
    assert_near(constant['embeddings'], expected['embeddings'])


@both_modes
def test_weights_that_have_moved_since_the_forward_pass_are_noticed(engine):
    head, x, y = head_and_rows(engine)
    loss = head.compute_loss(x.float(), y)['loss']
    with torch.no_grad():
        head.weight.add_(1)
    with pytest.raises(RuntimeError, match='modified by an inplace operation'):
        loss.backward()


def test_what_is_kept_between_steps_can_be_given_back():
    head, x, y = head_and_rows(STORE)
    backward(head, x, y)
    gradient = head.weight.grad.clone()
    counted = int((y >= 0).sum())
    assert head.release_buffers() == 4 * CLASSES * (DIM + counted)
    assert head.release_buffers() == 0
    torch.testing.assert_close(head.weight.grad, gradient, rtol=0, atol=0)
    head.zero_grad()
    backward(head, x, y)
    assert_near(head.weight.grad, gradient)
    assert build(dict(type='DenseEngine'), LOSS).release_buffers() == 0


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda head: pickle.loads(pickle.dumps(head))], ids=['deepcopy', 'pickle'])
def test_a_copy_of_a_head_shares_no_memory_and_carries_none(copied):
    head, x, y = head_and_rows(STORE)
    backward(head, x, y)
    head.zero_grad()
    twin = copied(head)
    assert twin.engine.release_buffers() == 0
    backward(twin, x, y)
    before = twin.weight.grad.clone()
    backward(head, 2 * x, (y + 1) % CLASSES)
    torch.testing.assert_close(twin.weight.grad, before, rtol=0, atol=0)


def test_the_state_of_a_head_does_not_tell_its_engine():
    assert head_and_rows(STORE)[0].state_dict().keys() == head_and_rows(dict(type='DenseEngine'))[0].state_dict().keys()


@both_modes
def test_without_gradients_nothing_is_kept(engine):
    head, x, y = head_and_rows(engine)
    with torch.no_grad():
        value = head.compute_loss(x.float(), y)['loss']
    assert head.release_buffers() == 0
    assert_near(value, head.compute_loss(x.float(), y)['loss'].detach())


@pytest.mark.parametrize('dtype', [torch.bfloat16, torch.float16])
@both_modes
def test_autocast_does_not_reach_the_classes_forward_or_backward(engine, dtype):
    head, x, y = head_and_rows(engine)
    x = x.to(dtype)
    with torch.autocast('cpu', dtype):
        backward(head, x, y)
    plain, *_ = head_and_rows(dict(type='DenseEngine'))
    backward(plain, x.float(), y)
    torch.testing.assert_close(head.weight.grad, plain.weight.grad, rtol=1e-4, atol=1e-6)


def test_half_precision_prototypes_are_widened():
    head, x, y = head_and_rows(STORE)
    backward(head.half(), x.half().float(), y)
    assert head.weight.grad.dtype == torch.float16
    torch.testing.assert_close(head.weight.grad.float(), reference(STORE), rtol=.1, atol=2e-3)


def test_memory_is_lent_to_one_tensor_at_a_time():
    memory, like = LentMemory(), torch.empty(0)
    first = memory.take((4, 5), like)
    second = memory.take((4, 5), like)
    assert address(first) != address(second)
    kept = address(first)
    view = first[1:]
    del first
    gc.collect()
    assert address(memory.take((4, 5), like)) != kept
    del view
    smaller = memory.take((2, 3), like)
    assert address(smaller) == kept and smaller.shape == (2, 3)
    del smaller
    assert memory.take((3, ), like.double()).dtype == torch.float64
    assert memory.take((9, 9), like).shape == (9, 9)
    assert memory.release() == 9 * 9 * 4


@pytest.mark.parametrize('budget, picked', [(1, 'store'), (0, 'recompute')])
def test_auto_picks_by_the_budget_and_says_so_once(budget, picked, monkeypatch):
    head, x, y = head_and_rows(dict(type='FusedEngine', memory_budget=budget))
    lines = []
    monkeypatch.setattr(MMLogger, 'callHandlers', lambda self, record: lines.append(record.getMessage()))
    for _ in range(2):
        backward(head, x, y)
    assert len(lines) == 1 and f"picks mode '{picked}'" in lines[0]
    counted = int((y >= 0).sum())
    assert head.release_buffers() == 4 * CLASSES * (DIM + (counted if picked == 'store' else 0))


@pytest.mark.parametrize('arguments, message', [
    (dict(mode='fast'), "mode must be one of .*'recompute'.* got 'fast'"),
    (dict(chunk_size=0), 'chunk_size must be at least 1, got 0'),
    (dict(memory_budget=-1.), 'memory_budget is in MiB and not negative, got -1'),
], ids=str)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        FusedEngine(**arguments)


@pytest.mark.slow
@pytest.mark.parametrize('loss', [LOSS, dict(type='ArcFaceLoss', detach_margin=True), dict(type='CurricularFaceLoss')])
def test_compiling_the_head_does_no_harm(loss):
    head, plain = (build(STORE, loss, CLASSES, DIM, torch.float32) for _ in range(2))
    x, y = rows(12, CLASSES, DIM)
    compiled = torch.compile(head.compute_loss)
    for _ in range(2):
        for one in (head, plain):
            one.zero_grad()
        compiled(x.float(), y)['loss'].backward()
        backward(plain, x, y)
        assert_near(head.weight.grad, plain.weight.grad)

import io
from copy import deepcopy

import pytest
import torch
from mmengine.optim import OptimWrapper
from mmengine.optim.optimizer import optimizer_wrapper
from torch import nn
from toy_training import record, train

from mmface.runtime import FaceAmpOptimWrapper, FaceOptimWrapper


def stepped(wrapper_type, iterations, seed=0, wrapper=None, model=None, **kwargs):
    """A small model after so many iterations with accumulation over 3, and its wrapper."""
    if model is None:
        torch.manual_seed(seed)
        model = nn.Linear(4, 2)
    if wrapper is None:
        wrapper = wrapper_type(optimizer=torch.optim.SGD(model.parameters(), lr=.1, momentum=.9), accumulative_counts=3, **kwargs)
        wrapper.initialize_count_status(model, 0, 100)
    for i in iterations:
        with wrapper.optim_context(model):
            x = torch.randn(5, 4, generator=torch.Generator().manual_seed(i))
            loss = model(x).float().square().mean()
        wrapper.update_params(loss)
    return model, wrapper


@pytest.mark.parametrize('wrapper_type, options', [
    (FaceOptimWrapper, {}),
    (FaceOptimWrapper, dict(clip_grad=dict(max_norm=.1))),
    (FaceAmpOptimWrapper, {}),
    (FaceAmpOptimWrapper, dict(dtype='float16')),
    (FaceAmpOptimWrapper, dict(dtype='float16', clip_grad=dict(max_norm=.1))),
])
@pytest.mark.parametrize('stop', [1, 2, 3, 4])
def test_an_accumulation_goes_on_where_it_was_left(wrapper_type, options, stop):
    whole, _ = stepped(wrapper_type, range(8), **deepcopy(options))
    half, wrapper = stepped(wrapper_type, range(stop), **deepcopy(options))
    state = torch.load(saved(wrapper.state_dict()), weights_only=True)
    assert ('grads' in state) == (stop % 3 != 0)

    model, fresh = stepped(wrapper_type, (), seed=1, **deepcopy(options))
    model.load_state_dict(half.state_dict())
    fresh.load_state_dict(state)
    fresh.initialize_count_status(model, stop, 100)
    stepped(wrapper_type, range(stop, 8), wrapper=fresh, model=model)
    assert torch.equal(model.weight, whole.weight)


def saved(state):
    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return buffer


def test_it_computes_what_mmengines_wrapper_computes():
    assert torch.equal(stepped(FaceOptimWrapper, range(8))[0].weight, stepped(OptimWrapper, range(8))[0].weight)


def test_lost_gradients_are_warned_of_only_where_they_are_lost(monkeypatch):
    said = []
    monkeypatch.setattr(optimizer_wrapper, 'print_log', lambda text, **_: said.append(text))
    _, wrapper = stepped(FaceOptimWrapper, range(4))
    fresh = FaceOptimWrapper(torch.optim.SGD(nn.Linear(4, 2).parameters(), lr=.1), accumulative_counts=3)
    fresh.load_state_dict(wrapper.state_dict())
    fresh.initialize_count_status(nn.Linear(4, 2), 4, 100)
    assert fresh.inner_count == 4
    assert said == []
    state = wrapper.state_dict()
    del state['grads']
    fresh.load_state_dict(state)
    assert all(p.grad is None for group in fresh.param_groups for p in group['params'])
    fresh.initialize_count_status(nn.Linear(4, 2), 4, 100)
    assert fresh.inner_count == 4
    assert 'gradient of some iterations is lost' in said[0]


@pytest.mark.parametrize('dtype', ['bfloat16', 'float16'])
def test_mixed_precision_computes_in_it_and_keeps_the_weights_in_float32(dtype):
    model = nn.Linear(4, 2)
    wrapper = FaceAmpOptimWrapper(optimizer=torch.optim.SGD(model.parameters(), lr=.1), dtype=dtype)
    with wrapper.optim_context(model):
        assert model(torch.randn(5, 4)).dtype is getattr(torch, dtype)
    assert model.weight.dtype is torch.float32


def test_only_float16_scales_the_loss_and_a_step_is_skipped_when_it_overflows():
    model = nn.Linear(1, 1, bias=False)
    wrapper = FaceAmpOptimWrapper(optimizer=torch.optim.SGD(model.parameters(), lr=.1), dtype='float16', loss_scale=2.**14)
    before = model.weight.detach().clone()
    wrapper.update_params(model.weight.sum() * float('inf'))
    assert torch.equal(model.weight, before)
    assert wrapper.loss_scaler.get_scale() == 2.**13
    wrapper.update_params(model.weight.sum())
    assert model.weight.item() == pytest.approx(before.item() - .1)
    assert FaceAmpOptimWrapper(optimizer=torch.optim.SGD(model.parameters(), lr=.1)).loss_scaler.is_enabled() is False


def test_a_fused_optimiser_whose_first_step_overflows_starts_with_no_momentum():
    """torch's own fused SGD then goes on with whatever lay in memory: here, with NaN."""
    rubbish = [torch.full((1000, ), float('nan')) for _ in range(50)]
    parameter = nn.Parameter(torch.ones(1000))
    wrapper = FaceAmpOptimWrapper(optimizer=torch.optim.SGD([parameter], lr=.1, momentum=.9, fused=True), dtype='float16')
    loss = parameter.sum() * float('inf')
    del rubbish
    wrapper.update_params(loss)
    wrapper.update_params(parameter.sum())
    assert parameter.tolist() == pytest.approx([.9] * 1000)


def test_an_unknown_dtype_is_named():
    with pytest.raises(ValueError, match=r"dtype must be one of \['bfloat16', 'float16'\], got 'float8'"):
        FaceAmpOptimWrapper(optimizer=torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=.1), dtype='float8')


@pytest.mark.parametrize('dtype', ['bfloat16', 'float16'])
def test_a_model_trains_and_resumes_exactly_in_mixed_precision_on_the_cpu(dtype, tmp_path):
    changes = {
        'optim_wrapper.type': 'FaceAmpOptimWrapper',
        'optim_wrapper.dtype': dtype,
        'default_hooks.checkpoint.by_epoch': False,
        'default_hooks.checkpoint.interval': 5
    }
    train(tmp_path / 'whole', **changes)
    train(tmp_path / 'resumed', load_from=str(tmp_path / 'whole/iter_5.pth'), resume=True, **changes)
    whole = record(tmp_path / 'whole')
    assert all(values == whole[key] for key, values in record(tmp_path / 'resumed').items())
    losses = [float.fromhex(values[0]) for (what, _), values in sorted(whole.items()) if what == 'train']
    assert sum(losses[-5:]) < .5 * sum(losses[:5])

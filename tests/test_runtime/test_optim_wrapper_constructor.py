"""Who gets weight decay, and in how many groups the optimiser sees the parameters."""
import pytest
import torch
from mmengine.optim import build_optim_wrapper
from mmengine.registry import DefaultScope
from mmengine.runner import Runner
from toy_training import record, toy_config, train

from mmface.registry import MODELS

LEARNED = dict(NormFaceLoss=dict(learn_scale=True), UniFaceLoss={}, SphereFace2Loss={})
DECAY = .1


@pytest.fixture(autouse=True)
def _scope():
    with DefaultScope.overwrite_default_scope('mmface'):
        yield


def recognizer(loss):
    head = dict(type='FaceClsHead', num_classes=5, in_channels=6, loss=loss)
    return MODELS.build(dict(type='FaceRecognizer', backbone=dict(type='ToyBackbone'), neck=dict(type='ToyNeck'), head=head))


def wrapper(model, paramwise_cfg=None, optimizer='SGD', **arguments):
    config = dict(type='FaceOptimWrapper', optimizer=dict(type=optimizer, lr=.1, **arguments), paramwise_cfg=paramwise_cfg)
    return build_optim_wrapper(model, config)


def decay(wrapper, parameters):
    return [group['weight_decay'] for p in parameters for group in wrapper.optimizer.param_groups if any(p is q for q in group['params'])]


@pytest.mark.parametrize('optimizer', ['SGD', 'AdamW'])
@pytest.mark.parametrize('name, arguments', LEARNED.items())
def test_a_step_without_gradient_leaves_learned_scalars_and_shrinks_all_else(name, arguments, optimizer, tmp_path):
    """In a stock Runner made from a config."""
    config = toy_config(
        tmp_path, **{
            'model.head.loss': dict(type=name, _delete_=True, **arguments),
            'optim_wrapper': dict(type='OptimWrapper', optimizer=dict(type=optimizer, lr=.1, weight_decay=DECAY), _delete_=True)
        })
    runner = Runner.from_cfg(config)
    optim = runner.build_optim_wrapper(runner.optim_wrapper)
    before = {n: p.detach().clone() for n, p in runner.model.named_parameters()}
    for parameter in runner.model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optim.step()
    for n, parameter in runner.model.named_parameters():
        torch.testing.assert_close(parameter.detach(), before[n] * (1 if 'loss_module' in n else 1 - .1 * DECAY), msg=n)
    assert len(optim.optimizer.param_groups) == 2


def test_a_decay_that_nobody_wrote_down_passes_by_learned_scalars_too():
    model = recognizer(dict(type='UniFaceLoss'))
    optim = wrapper(model, optimizer='AdamW')  # 0.01 by default
    assert decay(optim, [model.head.loss_module.bias, model.head.weight]) == [0., .01]


def test_without_learned_scalars_there_is_one_group_of_all_parameters_in_their_order():
    model = recognizer(dict(type='CosFaceLoss'))
    groups = wrapper(model, weight_decay=DECAY).optimizer.param_groups
    assert len(groups) == 1
    assert [id(p) for p in groups[0]['params']] == [id(p) for p in model.parameters()]


def test_settings_of_the_user_hold_and_equal_ones_share_a_group():
    model = recognizer(dict(type='SphereFace2Loss'))
    setting = dict(norm_decay_mult=0., bias_decay_mult=.5, custom_keys={'head.weight': dict(lr_mult=10., decay_mult=2.)})
    optim = wrapper(model, setting, weight_decay=DECAY)
    conv, norm, linear = model.backbone.layers[0], model.backbone.layers[1], model.neck.layers[2]
    parameters = [conv.weight, conv.bias, norm.weight, norm.bias, linear.bias, model.head.weight, model.head.loss_module.bias]
    assert decay(optim, parameters) == pytest.approx([DECAY, DECAY / 2, 0., 0., DECAY / 2, 2 * DECAY, 0.])
    assert [group['lr'] for group in optim.optimizer.param_groups if group['params'][0] is model.head.weight] == [1.]
    assert len(optim.optimizer.param_groups) == 4
    assert {id(p) for group in optim.optimizer.param_groups for p in group['params']} == {id(p) for p in model.parameters()}


def test_decay_that_is_asked_for_by_name_is_given():
    model = recognizer(dict(type='UniFaceLoss'))
    optim = wrapper(model, dict(custom_keys={'loss_module.bias': dict(decay_mult=3.)}), weight_decay=DECAY)
    assert decay(optim, [model.head.loss_module.bias]) == pytest.approx([3 * DECAY])


def test_a_run_with_a_learned_scalar_resumes_to_the_last_bit(tmp_path):
    changes = {
        'model.head.loss': dict(type='NormFaceLoss', learn_scale=True, _delete_=True),
        'default_hooks.checkpoint.by_epoch': False,
        'default_hooks.checkpoint.interval': 5
    }
    train(tmp_path / 'whole', **changes)
    train(tmp_path / 'resumed', load_from=str(tmp_path / 'whole/iter_10.pth'), resume=True, **changes)
    whole = record(tmp_path / 'whole')
    rest = record(tmp_path / 'resumed')
    assert rest == {key: whole[key] for key in rest}
    ends = [torch.load(tmp_path / run / 'iter_30.pth')['state_dict']['head.loss_module.s'].item() for run in ('whole', 'resumed')]
    assert ends[0] == ends[1] != 30.

import pytest
import torch
from toy_training import log_of, record, train

FACE = {'custom_hooks': [dict(type='FaceEMAHook', momentum=.1), dict(type='Recorder')]}
STOCK = {'custom_hooks': [dict(type='EMAHook', momentum=.1), dict(type='Recorder')]}
VPL = {'model.head.type': 'VPLHead', 'model.head.loss': dict(type='CosFaceLoss', _delete_=True)}


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    """Work directories of the same training with MMEngine's hook and with ours, whole and sharded."""
    work = tmp_path_factory.mktemp('ema')
    train(work / 'stock', **STOCK)
    train(work / 'face', **FACE, log_level='INFO')
    train(work / 'sharded', **FACE, **{'model.head.sharded': True})
    return work


def saved(work_dir, epoch=3):
    return torch.load(work_dir / f'epoch_{epoch}.pth')


def test_the_average_of_the_network_is_that_of_mmengine(runs):
    stock, ours, sharded = (saved(runs / kind) for kind in ('stock', 'face', 'sharded'))
    assert record(runs / 'face') == record(runs / 'stock')  # validations are of the average
    for name, value in ours['state_dict'].items():
        assert torch.equal(value, stock['state_dict'][name]) == (name != 'head.weight'), name
    for name, value in ours['ema_state_dict'].items():
        assert torch.equal(value, stock['ema_state_dict'][name]), name
    assert 'head.weight' not in sharded['state_dict']
    torch.testing.assert_close(dict(sharded['ema_state_dict']), dict(ours['ema_state_dict']), rtol=1e-4, atol=1e-5)


def test_the_prototypes_are_left_out_and_the_log_says_so(runs):
    assert 'the moving average leaves out head.weight' in log_of(runs / 'face')
    for kind in ('face', 'sharded'):
        assert 'module.head.weight' not in saved(runs / kind)['ema_state_dict']
    assert torch.equal(saved(runs / 'face')['state_dict']['head.weight'], saved(runs / 'stock')['ema_state_dict']['module.head.weight'])


@pytest.mark.parametrize('head', [{}, {'model.head.sharded': True}, VPL, {**VPL, 'model.head.sharded': True}])
def test_a_resumed_run_is_the_whole_one(head, tmp_path):
    whole = train(tmp_path / 'whole', **FACE, **head)
    rest = train(tmp_path / 'rest', **FACE, **head, load_from=str(tmp_path / 'whole/epoch_1.pth'), resume=True)
    steps, rest_of_steps = record(tmp_path / 'whole'), record(tmp_path / 'rest')
    assert len(rest_of_steps) == 23
    assert rest_of_steps == {key: steps[key] for key in rest_of_steps}
    assert torch.equal(rest.model.head.weight, whole.model.head.weight)
    a, b = (saved(tmp_path / run)['ema_state_dict'] for run in ('whole', 'rest'))
    assert a.keys() == b.keys()
    assert all(torch.equal(b[name], value) for name, value in a.items())


def test_a_run_that_averaged_the_prototypes_goes_on_with_them_as_they_were(runs, tmp_path):
    train(tmp_path, **FACE, load_from=str(runs / 'stock/epoch_1.pth'), resume=True)
    whole, rest = record(runs / 'face'), record(tmp_path)
    assert len(rest) == 23
    assert rest == {key: whole[key] for key in rest}


def test_the_average_takes_no_memory_for_prototypes(tmp_path):
    runner = train(tmp_path, **FACE, **{'model.head.sharded': True, 'train_cfg.max_epochs': 1})
    hook = next(hook for hook in runner.hooks if type(hook).__name__ == 'FaceEMAHook')
    shapes = [tuple(value.shape) for value in (*hook.ema_model.parameters(), *hook.ema_model.buffers())]
    assert runner.model.head.weight.shape not in shapes
    assert runner.model.head.weight.requires_grad

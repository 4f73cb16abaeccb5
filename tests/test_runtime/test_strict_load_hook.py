import pytest
import torch
from mmengine.runner import Runner
from toy_training import log_of, record, toy_config, train


def runner_of(work_dir, **changes):
    return Runner.from_cfg(toy_config(work_dir, **changes, custom_hooks=[]))


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    """A path, and a function that writes a changed copy of the weights beside it."""
    work_dir = tmp_path_factory.mktemp('trained')
    train(work_dir, **{'train_cfg.max_epochs': 1})
    path = work_dir / 'epoch_1.pth'

    def changed(change):
        state = torch.load(path)['state_dict']
        change(state)
        torch.save(dict(state_dict=state), work_dir / 'changed.pth')
        return str(work_dir / 'changed.pth')

    return path, changed


def weights(path):
    return torch.load(path)['state_dict']


def test_another_number_of_classes_loads_the_rest_and_starts_the_head_fresh_and_says_so_once(checkpoint, tmp_path):
    path, _ = checkpoint
    runner = runner_of(tmp_path, **{'model.head.num_classes': 7})
    fresh = {key: value.clone() for key, value in runner.model.head.state_dict().items()}
    runner.load_checkpoint(str(path))
    saved = weights(path)
    for name, value in runner.model.state_dict().items():
        expected = fresh[name.removeprefix('head.')] if name.startswith('head.') else saved[name]
        assert torch.equal(value, expected), name
    log = log_of(tmp_path)
    assert log.count('the head starts fresh') == 1
    assert 'head.weight is (5, 6) in the checkpoint and (7, 6) in the model' in log


def test_it_then_trains_with_a_moving_average(checkpoint, tmp_path):
    train(
        tmp_path,
        load_from=str(checkpoint[0]),
        **{
            'model.head.num_classes': 7,
            'train_dataloader.dataset.classes': 7,
            'train_cfg.max_epochs': 1
        })
    assert len([key for key in record(tmp_path) if key[0] == 'train']) == 10


def test_the_same_classes_are_loaded_in_silence(checkpoint, tmp_path):
    path, _ = checkpoint
    runner = runner_of(tmp_path)
    runner.load_checkpoint(str(path))
    saved = weights(path)
    assert all(torch.equal(value, saved[name]) for name, value in runner.model.state_dict().items())
    assert 'fresh' not in log_of(tmp_path)


def test_another_loss_keeps_the_prototypes(checkpoint, tmp_path):
    path, _ = checkpoint
    runner = runner_of(tmp_path, **{'model.head.loss': dict(type='CosFaceLoss', _delete_=True)})
    runner.load_checkpoint(str(path))
    assert torch.equal(runner.model.head.weight, weights(path)['head.weight'])
    assert 'what is left of the head starts fresh: head.loss_module.norm_mean is not in the model' in log_of(tmp_path)


def test_a_backbone_alone_is_enough(checkpoint, tmp_path):
    _, changed = checkpoint

    def only_backbone(state):
        for name in [name for name in state if not name.startswith('backbone.')]:
            del state[name]

    runner = runner_of(tmp_path)
    runner.load_checkpoint(changed(only_backbone))
    assert 'the neck starts fresh' in log_of(tmp_path)
    assert 'the head starts fresh' in log_of(tmp_path)


def test_keys_of_a_wrapped_model_are_understood(checkpoint, tmp_path):
    path, changed = checkpoint

    def wrap(state):
        for name in list(state):
            state[f'module.{name}'] = state.pop(name)

    runner = runner_of(tmp_path)
    runner.load_checkpoint(changed(wrap))
    assert torch.equal(runner.model.head.weight, weights(path)['head.weight'])


CONV = 'backbone.layers.0.weight'


@pytest.mark.parametrize('change, message', [
    (lambda state: state.update({CONV: torch.zeros(9, 3, 3, 3)}), r'0.weight is \(9, 3, 3, 3\) in the checkpoint and \(4, 3, 3, 3\)'),
    (lambda state: state.pop(CONV), 'backbone.layers.0.weight is not in the checkpoint'),
    (lambda state: state.update({'backbone.layers.9.weight': torch.zeros(1)}), 'backbone.layers.9.weight is not in the model'),
    (lambda state: state.pop('neck.layers.2.bias'), 'neck.layers.2.bias is not in the checkpoint'),
    (lambda state: [state.pop(name) for name in list(state) if 'backbone' in name], 'backbone.*and 4 more.*give the config the backbone'),
])
def test_any_other_misfit_is_an_error_that_names_it(change, message, checkpoint, tmp_path):
    runner = runner_of(tmp_path)
    before = {key: value.clone() for key, value in runner.model.state_dict().items()}
    with pytest.raises(ValueError, match=message):
        runner.load_checkpoint(checkpoint[1](change))
    assert all(torch.equal(value, before[key]) for key, value in runner.model.state_dict().items())


def test_a_missing_batch_counter_is_no_misfit(checkpoint, tmp_path):
    runner_of(tmp_path).load_checkpoint(checkpoint[1](lambda state: state.pop('backbone.layers.1.num_batches_tracked')))
    assert 'fresh' not in log_of(tmp_path)


def test_resuming_with_another_number_of_classes_is_an_error(checkpoint, tmp_path):
    with pytest.raises(ValueError, match=r'head.weight is .* Resuming needs the model that the checkpoint was trained with'):
        train(tmp_path, load_from=str(checkpoint[0]), resume=True, **{'model.head.num_classes': 7})

"""Losses reach the log and the checkpoint whole, however seldom they are fetched."""
import pytest
import torch
from toy_training import iteration_based, train

import mmface.runtime.hooks.face_runtime_info_hook as module

WITHOUT_RECORDER = dict(custom_hooks=[dict(type='EMAHook', momentum=.1)])


def losses(checkpoint) -> dict:
    scalars = torch.load(checkpoint)['message_hub']['log_scalars']
    return {name: history['values'].tolist() for name, history in scalars.items() if 'time' not in name}


@pytest.mark.parametrize('kind', [dict, iteration_based])
def test_history_log_and_checkpoints_do_not_depend_on_how_often_they_are_fetched(tmp_path, kind):
    logged: dict = {}

    def remember(runner, tag, **kwargs):
        logged.setdefault(runner, []).append({name: value for name, value in tag.items() if 'loss' in name})

    for interval in (1, None):
        changes = kind(**WITHOUT_RECORDER, **{'default_hooks.runtime_info.interval': interval, 'default_hooks.logger.interval': 4})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr('mmengine.visualization.Visualizer.add_scalars', lambda self, tag, i=interval, **kw: remember(i, tag))
            train(tmp_path / str(interval), **changes)
    names = sorted(path.name for path in (tmp_path / '1').glob('*.pth'))
    assert len(names) >= 3
    for name in names:
        assert losses(tmp_path / '1' / name) == losses(tmp_path / 'None' / name)
        assert 'train/loss' in losses(tmp_path / '1' / name)
    assert logged[1] == logged[None]
    assert any(logged[1])


def test_the_device_is_waited_for_when_the_log_is_written_and_at_no_other_iteration(tmp_path, monkeypatch):
    fetched = []
    monkeypatch.setattr(module, 'all_reduce', lambda values, op: fetched.append(len(values)))
    changes = iteration_based(**WITHOUT_RECORDER, **{
        'default_hooks.runtime_info.interval': None, 'default_hooks.logger.interval': 5, 'train_cfg.val_interval': 100,
        'default_hooks.checkpoint.interval': 100})
    runner = train(tmp_path, **changes)
    assert len(runner.message_hub.get_scalar('train/loss').data[0]) == 24
    assert fetched == [10, 10, 10, 10, 8], 'two scalars an iteration'

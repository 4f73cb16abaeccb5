from collections import Counter, OrderedDict

import numpy as np
import pytest
import torch
from mmengine.logging import HistoryBuffer
from torch.serialization import get_unsafe_globals_in_checkpoint
from toy_training import log_of, toy_config, train

from mmface.runtime.plain_data import plain


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    work_dir = tmp_path_factory.mktemp('trained')
    runner = train(work_dir, **{'train_cfg.max_epochs': 1, 'default_hooks.checkpoint.save_best': 'toy/accuracy'})
    return work_dir, runner


def test_a_checkpoint_loads_as_weights_only_and_names_no_class(trained):
    work_dir, _ = trained
    for name in ('epoch_1.pth', 'best_toy_accuracy_epoch_1.pth'):
        assert torch.load(work_dir / name, weights_only=True)['meta']['epoch'] == 1
        assert get_unsafe_globals_in_checkpoint(work_dir / name) == []


def test_the_history_of_logged_scalars_comes_back_whole(trained, tmp_path):
    work_dir, first = trained
    second = train(
        tmp_path / 'more', resume=True, load_from=str(work_dir / 'epoch_1.pth'), custom_hooks=[dict(type='EMAHook', momentum=.1)])
    old, new = first.message_hub.get_scalar('train/loss'), second.message_hub.get_scalar('train/loss')
    assert isinstance(new, HistoryBuffer)
    assert len(old.data[0]) == 10
    assert len(new.data[0]) == 30
    assert np.array_equal(new.data[0][:10], old.data[0])
    assert np.array_equal(new.data[1][:10], old.data[1])


def test_only_the_last_entries_are_kept_in_memory_and_on_disk(tmp_path):
    runner = train(tmp_path, **{'train_cfg.max_epochs': 1, 'default_hooks.safe_checkpoint.history': 4})
    assert len(runner.message_hub.get_scalar('train/loss').data[0]) == 4
    saved = torch.load(tmp_path / 'epoch_1.pth')['message_hub']['log_scalars']['train/loss']
    assert saved['values'].tolist() == runner.message_hub.get_scalar('train/loss').data[0].tolist()


def test_what_is_not_plain_is_saved_as_text_and_said_once(tmp_path):
    from toy_training import ToyFaces
    meta = dict(num_classes=5, palette=np.arange(3), made_by=toy_config)
    ToyFaces.metainfo, usual = meta, ToyFaces.metainfo
    try:
        train(tmp_path, **{'train_cfg.max_epochs': 2})
    finally:
        ToyFaces.metainfo = usual
    saved = torch.load(tmp_path / 'epoch_2.pth', weights_only=True)['meta']['dataset_meta']
    assert saved == dict(num_classes=5, palette=[0, 1, 2], made_by=repr(toy_config))
    assert log_of(tmp_path).count('not plain data, saved as text') == 1
    assert "checkpoint['meta']['dataset_meta']['made_by']" in log_of(tmp_path)


def test_plain_keeps_what_torch_can_read_and_changes_the_rest():
    replaced = []
    tensor = torch.ones(2)
    assert plain(tensor, replaced) is tensor
    assert plain(np.float64(1.5), replaced) == 1.5
    assert type(plain(np.float64(1.5), replaced)) is float
    assert type(plain({'a': (np.int64(3), )}, replaced)['a'][0]) is int
    assert plain(Counter({4: 1}), replaced) == {4: 1}
    assert plain(OrderedDict(a=None), replaced) == {'a': None}
    assert replaced == []
    assert plain({'a': [1, {object}]}, replaced) == {'a': [1, {repr(object)}]}
    assert replaced == ["checkpoint['a'][1][0]"]


def test_a_checkpoint_of_stock_mmengine_still_needs_trust(tmp_path):
    """The fault that the hook is for: without it the tests above could not fail."""
    train(tmp_path, **{'train_cfg.max_epochs': 1, 'default_hooks.safe_checkpoint': dict(type='SyncBuffersHook', _delete_=True)})
    assert get_unsafe_globals_in_checkpoint(tmp_path / 'epoch_1.pth')

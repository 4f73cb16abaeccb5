import multiprocessing
import os
import shutil
import signal
import warnings

import pytest
import torch
from toy_training import main, record, train

from mmface.runtime import AtomicBackend, AtomicCheckpointHook

KEEP_1 = {'default_hooks.checkpoint.max_keep_ckpts': 1, 'val_cfg': None, 'val_dataloader': None, 'val_evaluator': None}
BEST = {
    'default_hooks.checkpoint.max_keep_ckpts': 1,
    'default_hooks.checkpoint.save_best': 'toy/age',
    'default_hooks.checkpoint.rule': 'greater'
}


def checkpoints(work_dir):
    return sorted(path.name for path in work_dir.iterdir() if '.pth' in path.name)


def pointer(work_dir):
    return (work_dir / 'last_checkpoint').read_text()


def run_to_its_death(work_dir, kill, changes):
    """Trains in a process of its own, which kills itself with SIGKILL."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)  # Python 3.12 on forking a process with threads
        process = multiprocessing.get_context('fork').Process(target=main, args=(work_dir, changes, kill))
        process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    work_dir = tmp_path_factory.mktemp('whole')
    train(work_dir, **KEEP_1)
    return work_dir


@pytest.fixture(scope='module')
def whole_with_best(tmp_path_factory):
    work_dir = tmp_path_factory.mktemp('whole_with_best')
    train(work_dir, **BEST)
    return work_dir


# Moments in the life of the second checkpoint, epoch_2.pth: what must lie on the disk, what the pointer says
@pytest.mark.parametrize('moment, files, named', [
    ('written', ['epoch_1.pth', 'epoch_2.pth.tmp'], 'epoch_1.pth'),
    ('renamed', ['epoch_1.pth', 'epoch_2.pth'], 'epoch_1.pth'),
    ('pointed', ['epoch_1.pth', 'epoch_2.pth'], 'epoch_2.pth'),
    ('pruning', ['epoch_1.pth', 'epoch_2.pth'], 'epoch_2.pth'),
    ('pruned', ['epoch_2.pth'], 'epoch_2.pth'),
])
def test_a_run_killed_at_any_moment_of_saving_resumes_and_ends_as_the_whole_one(moment, files, named, whole, tmp_path):
    nth = 1 if moment in ('pruning', 'pruned') else 2
    run_to_its_death(tmp_path / 'killed', [moment, nth], KEEP_1)
    assert checkpoints(tmp_path / 'killed') == files
    assert pointer(tmp_path / 'killed') == named

    train(tmp_path / 'killed', resume=True, **KEEP_1)
    assert checkpoints(tmp_path / 'killed') == ['epoch_3.pth']
    assert pointer(tmp_path / 'killed') == 'epoch_3.pth'
    assert record(tmp_path / 'killed') == record(whole)


def test_a_run_killed_before_its_first_checkpoint_is_safe_starts_again(whole, tmp_path):
    run_to_its_death(tmp_path / 'killed', ['renamed', 1], KEEP_1)
    assert not (tmp_path / 'killed/last_checkpoint').exists()
    train(tmp_path / 'killed', resume=True, **KEEP_1)
    assert checkpoints(tmp_path / 'killed') == ['epoch_3.pth']
    assert record(tmp_path / 'killed') == record(whole)


# Writes are epoch_1, best of 1, epoch_1 again (it now names the best); then the same for 2: the fifth write is the second best.
@pytest.mark.parametrize('moment, best', [
    (['written', 5], ['epoch_1', 'epoch_2.pth.tmp']),
    (['renamed', 5], ['epoch_1', 'epoch_2']),
    (['renamed', 6], ['epoch_1', 'epoch_2']),  # and epoch_2 again is on the disk, naming the second best
])
def test_a_run_killed_while_it_saves_its_best_keeps_a_best(moment, best, whole_with_best, tmp_path):
    run_to_its_death(tmp_path / 'killed', moment, BEST)
    names = [f'best_toy_age_{name}' + ('' if '.' in name else '.pth') for name in best]
    assert [name for name in checkpoints(tmp_path / 'killed') if name.startswith('best')] == names
    assert torch.load(tmp_path / 'killed' / names[0], weights_only=True)['meta']['epoch'] == 1

    train(tmp_path / 'killed', resume=True, **BEST)
    assert checkpoints(tmp_path / 'killed') == checkpoints(whole_with_best) == ['best_toy_age_epoch_3.pth', 'epoch_3.pth']
    assert record(tmp_path / 'killed') == record(whole_with_best)


def test_a_moved_work_dir_resumes_and_leaves_the_old_one_alone(whole_with_best, tmp_path):
    shutil.copytree(whole_with_best, tmp_path / 'old')
    train(tmp_path / 'old', resume=True, **BEST, **{'train_cfg.max_epochs': 4})
    before = checkpoints(tmp_path / 'old')
    shutil.copytree(tmp_path / 'old', tmp_path / 'new')
    runner = train(tmp_path / 'new', resume=True, **BEST, **{'train_cfg.max_epochs': 5})
    assert runner.epoch == 5
    assert checkpoints(tmp_path / 'new') == ['best_toy_age_epoch_5.pth', 'epoch_5.pth']
    assert checkpoints(tmp_path / 'old') == before == ['best_toy_age_epoch_4.pth', 'epoch_4.pth']


def test_the_best_checkpoint_of_a_moved_work_dir_is_the_one_that_moved(whole_with_best, tmp_path):
    shutil.copytree(whole_with_best, tmp_path / 'moved')
    never_better = {**BEST, 'default_hooks.checkpoint.rule': 'less', 'train_cfg.max_epochs': 4}
    runner = train(tmp_path / 'moved', resume=True, **never_better)
    hook = next(hook for hook in runner.hooks if isinstance(hook, AtomicCheckpointHook))
    assert hook.best_ckpt_path == str(tmp_path / 'moved/best_toy_age_epoch_3.pth')


@pytest.mark.parametrize('keep, left', [(2, ['epoch_2.pth', 'epoch_3.pth']), (-1, ['epoch_1.pth', 'epoch_2.pth', 'epoch_3.pth'])])
def test_as_many_checkpoints_are_kept_as_asked_for(keep, left, tmp_path):
    train(tmp_path, **{**KEEP_1, 'default_hooks.checkpoint.max_keep_ckpts': keep})
    assert checkpoints(tmp_path) == left


def test_what_a_killed_run_left_half_written_is_removed(tmp_path):
    (tmp_path / 'epoch_9.pth.tmp').touch()
    train(tmp_path, **KEEP_1)
    assert checkpoints(tmp_path) == ['epoch_3.pth']


def test_the_last_checkpoint_is_saved_whatever_the_interval(tmp_path):
    train(tmp_path, **{**KEEP_1, 'default_hooks.checkpoint.interval': 2})
    assert checkpoints(tmp_path) == ['epoch_3.pth']
    train(tmp_path / 'none', **{**KEEP_1, 'default_hooks.checkpoint.interval': 2, 'default_hooks.checkpoint.save_last': False})
    assert checkpoints(tmp_path / 'none') == ['epoch_2.pth']


def test_the_best_by_several_metrics_are_kept_apart(tmp_path):
    train(tmp_path, **{'default_hooks.checkpoint.save_best': ['toy/accuracy', 'toy/loss'], 'train_cfg.max_epochs': 2})
    assert checkpoints(tmp_path) == ['best_toy_accuracy_epoch_2.pth', 'best_toy_loss_epoch_2.pth', 'epoch_1.pth', 'epoch_2.pth']


def test_checkpoints_elsewhere_are_pointed_to_relatively(tmp_path):
    train(tmp_path / 'work', **{**KEEP_1, 'default_hooks.checkpoint.out_dir': str(tmp_path / 'elsewhere')})
    assert pointer(tmp_path / 'work') == os.path.join('..', 'elsewhere', 'work', 'epoch_3.pth')


def test_urls_are_refused():
    with pytest.raises(ValueError, match=r'local directories.*s3://bucket'):
        AtomicCheckpointHook(out_dir='s3://bucket')


def test_the_backend_syncs_the_file_before_and_the_directory_after_the_rename(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, 'fsync', lambda fd: (calls.append(os.readlink(f'/proc/self/fd/{fd}')), fsync(fd)))
    monkeypatch.setattr(os, 'replace', lambda old, new: (calls.append('rename'), replace(old, new)))
    AtomicBackend().put(b'bytes', tmp_path / 'sub/file')
    assert calls == [str(tmp_path / 'sub/file.tmp'), 'rename', str(tmp_path / 'sub')]
    assert (tmp_path / 'sub/file').read_bytes() == b'bytes'

"""One training of a comparison: what it is called, that it can be interrupted, and that it may fail."""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mmengine.config import Config

from mmface.apis.arena import EXPERIMENTS, LOSSES, SETTINGS, Training, identity, open_data, write_procedural
from mmface.apis.arena.train_all import train_all
from mmface.apis.arena.train_one import MARKS, train_one
from mmface.apis.arena.training import training_config
from mmface.registry import MODELS

ROOT = Path(__file__).resolve().parents[2]
SMOKE = SETTINGS['smoke']
TRAINING = Training(LOSSES['ArcFace'], seed=0)


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp('arena') / 'data'
    write_procedural(folder, 4, 8, 10, 3)
    return open_data(folder)


@pytest.fixture(scope='module')
def finished(data, tmp_path_factory):
    """A training that nobody interrupted."""
    folder = tmp_path_factory.mktemp('trainings')
    train_all([TRAINING, TRAINING], data, SMOKE, folder, 1, lambda text: None)
    return folder / identity(TRAINING, data, SMOKE)


def test_whatever_changes_the_outcome_changes_the_name_and_where_the_data_lie_does_not(data, tmp_path):
    others = [
        replace(TRAINING, seed=1), replace(TRAINING, lr=.2), replace(TRAINING, augmented=True), replace(TRAINING, ratio=.1),
        replace(TRAINING, loss=LOSSES['ArcFace'] | dict(m=.31))
    ]  # yapf: disable
    names = [identity(training, data, SMOKE) for training in (TRAINING, *others)]
    names += [identity(TRAINING, replace(data, sha256='0'), SMOKE), identity(TRAINING, data, replace(SMOKE, batch=8)),
              identity(TRAINING, data, replace(SMOKE, epochs=dict(lfw=4, procedural=8)))]  # yapf: disable
    assert len(set(names)) == len(names)
    assert identity(TRAINING, replace(data, folder=tmp_path), SMOKE) == names[0]


@pytest.mark.parametrize('name', SETTINGS)
def test_quarters_of_every_schedule_are_ends_of_epochs(name):
    assert not any(epochs % 4 for epochs in SETTINGS[name].epochs.values())
    assert len(SETTINGS[name].seeds) >= 3


@pytest.mark.parametrize('name', EXPERIMENTS)
@pytest.mark.parametrize('setting', SETTINGS)
def test_every_experiment_trains_losses_that_exist_and_every_row_has_its_own_name(data, name, setting):
    rows = EXPERIMENTS[name](SETTINGS[setting])
    assert len({row.label for row in rows}) == len(rows) > 1
    assert any(row.baseline for row in rows)
    for row in rows:
        MODELS.build(dict(row.view.recipe(0).loss, num_classes=5))
        assert row.view.mark in MARKS


def test_augmentation_stands_between_decoding_and_the_rest(data):
    plain, augmented = ([transform['type'] for transform in training_config(replace(TRAINING, augmented=flag), data, SMOKE)
                         .train_dataloader.dataset.pipeline] for flag in (False, True))  # yapf: disable
    assert augmented[1:4] == ['RandomCropInPlace', 'RandomLowResolution', 'RandomPhotometric']
    assert augmented[:1] + augmented[4:] == plain


def test_a_share_of_the_classes_is_drawn_by_the_engine_that_draws_and_all_of_them_by_the_engine_of_the_config(data):
    engines = [training_config(replace(TRAINING, ratio=ratio), data, SMOKE).model.head.get('engine') for ratio in (1., .1)]
    assert engines == [None, dict(type='SampledEngine', ratio=.1, seed=0)]


def test_a_seed_is_that_of_everything_random(data):
    config = training_config(replace(TRAINING, seed=3, ratio=.1), data, SMOKE)
    assert (config.randomness.seed, config.train_dataloader.dataset.seed, config.model.head.engine.seed) == (3, 3, 3)


def test_changes_are_those_of_the_data_set(data):
    setting = replace(SMOKE, changes=dict(lfw={'model.backbone.width': .125}))
    assert training_config(TRAINING, data, setting).model.backbone.width == .5
    assert training_config(TRAINING, data, SMOKE).model.backbone.width == .25


def test_a_set_smaller_than_a_batch_is_refused(data):
    with pytest.raises(ValueError, match='32 images do not fill a batch of 64'):
        training_config(TRAINING, data, replace(SMOKE, batch=64))


@pytest.mark.slow
def test_a_finished_training_leaves_all_that_is_needed_to_check_it(finished, data):
    result = json.loads((finished / 'result.json').read_text())
    assert (result['status'], result['iterations'], result['identity']) == ('finished', 8, finished.name)
    assert set(result['embeddings']) == {*(f'clean_{mark:g}.npy' for mark in (0, .25, .5, .75, 1)), 'degraded_1.npy'}
    assert len(result['logs']) == 1 and result['seconds'] > 0
    assert Config.fromfile(finished / 'config.py').model.head.loss.type == 'ArcFaceLoss'
    assert [path.name for path in finished.glob('train/*.pth')] == ['epoch_4.pth']
    rows = [np.load(finished / name) for name in sorted(result['embeddings'])]
    assert all(row.shape == (30, 128) for row in rows)
    assert not any(np.allclose(a, b) for at, a in enumerate(rows) for b in rows[:at])
    before = (finished / 'result.json').stat().st_mtime_ns
    assert train_one(TRAINING, data, SMOKE, finished) == result  # not done again
    assert (finished / 'result.json').stat().st_mtime_ns == before


KILL = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from mmface.apis.arena import LOSSES, SETTINGS, Training, open_data, train_one
from mmface.apis.arena.training_watch_hook import TrainingWatchHook
def kill(self, runner, *args, **kwargs):
    if runner.iter == 4:
        os.kill(os.getpid(), signal.SIGKILL)
TrainingWatchHook.after_train_iter = kill
train_one(Training(LOSSES['ArcFace'], seed=0), open_data(Path(sys.argv[1])), SETTINGS['smoke'], Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_a_training_killed_in_the_middle_goes_on_from_its_checkpoint_and_ends_the_same(finished, data, tmp_path):
    folder = tmp_path / identity(TRAINING, data, SMOKE)
    killed = subprocess.run([sys.executable, '-c', KILL, str(data.folder), str(folder)], cwd=ROOT, capture_output=True, check=False,
                            env=os.environ | dict(OMP_NUM_THREADS='1'))
    assert killed.returncode == -signal.SIGKILL
    assert not (folder / 'result.json').exists()
    assert (folder / 'train/epoch_2.pth').is_file() and not (folder / 'train/epoch_3.pth').exists()
    train_all([TRAINING], data, SMOKE, tmp_path, 1, lambda text: None)
    for path in finished.glob('*.npy'):
        np.testing.assert_array_equal(np.load(folder / path.name), np.load(path))
    assert len(json.loads((folder / 'result.json').read_text())['logs']) == 2
    assert 'Load checkpoint from' in (folder / 'console.txt').read_text()


ENDLESS = """
import sys
from dataclasses import replace
from pathlib import Path
from mmface.apis.arena import LOSSES, SETTINGS, Training, open_data, train_all
setting = replace(SETTINGS['smoke'], epochs=dict(procedural=100_000))
train_all([Training(LOSSES['ArcFace'], seed=0)], open_data(Path(sys.argv[1])), setting, Path(sys.argv[2]), 1, print)
"""


@pytest.mark.slow
def test_a_killed_command_leaves_no_worker_that_keeps_its_folder(data, tmp_path):
    command = subprocess.Popen([sys.executable, '-c', ENDLESS, str(data.folder), str(tmp_path)], cwd=ROOT, start_new_session=True)
    try:
        _soon(lambda: list(tmp_path.glob('*/train/*/*.log')))
        command.kill()
        command.wait()
        with next(tmp_path.glob('*/.lock')).open() as lock:
            _soon(lambda: _is_free(lock))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)


def _is_free(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _soon(happens, seconds=120):
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, 'waited in vain'
        time.sleep(.1)


def test_two_processes_are_not_at_one_training(data, tmp_path):
    with (tmp_path / '.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match='another process'):
            train_one(TRAINING, data, SMOKE, tmp_path)


def test_a_loss_that_diverges_is_a_result(data, tmp_path):
    result = train_one(replace(TRAINING, lr=1e30), data, SMOKE, tmp_path / 'run')
    assert result['status'] == 'diverged'
    assert 1 < result['iterations'] <= 8
    assert json.loads((tmp_path / 'run/result.json').read_text()) == result


@pytest.mark.slow
def test_a_mistake_in_a_loss_is_an_error_and_leaves_no_result(data, tmp_path):
    with pytest.raises((TypeError, KeyError), match='margn'):
        train_all([replace(TRAINING, loss=dict(type='ArcFaceLoss', margn=1))], data, SMOKE, tmp_path, 1, lambda text: None)
    assert not list(tmp_path.rglob('result.json'))

import argparse
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from mmengine.config import Config
from toy_training import NUMBERS, log_of, record, toy_config

from mmface.apis import run_test
from mmface.apis import train as train_api
from mmface.commands import test as test_command
from mmface.commands import train as train_command

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def train(config, cfg_options=(), **arguments):
    """With a name of its own, see toy_training."""
    return train_api.train(config, cfg_options={'experiment_name': f'trained{next(NUMBERS)}', **dict(cfg_options)}, **arguments)


def tried(config, *arguments, cfg_options=(), **more):
    return run_test.run_test(config, *arguments, cfg_options={'experiment_name': f'tested{next(NUMBERS)}', **dict(cfg_options)}, **more)


@pytest.fixture
def config_file(tmp_path, monkeypatch):
    """A config file as a user has one, on the shipped runtime; the toy's modules come from beside this file."""
    monkeypatch.chdir(tmp_path)
    toy = toy_config(tmp_path)
    shipped = {'default_hooks', 'default_scope', 'work_dir', 'experiment_name', 'log_level', 'randomness'}
    settings = {key: value for key, value in toy.to_dict().items() if key not in shipped}
    settings.update(
        custom_hooks=[dict(type='Recorder')],
        custom_imports=dict(imports=['mmface', 'toy_training']),
        test_dataloader=settings['val_dataloader'],
        test_cfg={},
        test_evaluator=settings['val_evaluator'],
        auto_scale_lr=dict(base_batch_size=16))
    path = tmp_path / 'toy.py'
    path.write_text(f"_base_ = [{str(ROOT / 'configs/_base_/default_runtime.py')!r}]\n"
                    'default_hooks = dict(logger=dict(interval=5), runtime_info=dict(interval=1))\n'
                    + '\n'.join(f'{key} = {value!r}' for key, value in settings.items()))
    return path


def run_tool(name, *arguments, **environment):
    path = os.pathsep.join([str(ROOT), str(HERE)])
    command = [sys.executable] if name.endswith('.py') else ['bash']
    return subprocess.run(
        [*command, str(ROOT / 'tools' / name), *map(str, arguments)],
        env={
            **os.environ, 'PYTHONPATH': path,
            'PYTHON': sys.executable,
            'OMP_NUM_THREADS': '1',
            **environment
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False)


def tool(name):
    """The module of a tool."""
    spec = importlib.util.spec_from_file_location(f'tool_{name}', ROOT / f'tools/{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_log_shows_progress_and_what_is_learnt_and_tensorboard_too(config_file):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    train(config_file)
    work_dir = config_file.parent / 'work_dirs/toy'
    log = log_of(work_dir)
    line = next(line for line in log.splitlines() if 'Epoch(train) [2][ 5/10]' in line)
    for word in ('lr:', 'eta:', 'loss:', 'target_cosine:', 'grad_norm:'):
        assert word in line
    assert 'Epoch(val) [2][2/2]    toy/accuracy:' in log
    events = EventAccumulator(str(next(work_dir.glob('*/vis_data'))))
    events.Reload()
    assert {'lr', 'loss', 'target_cosine', 'toy/accuracy'} <= set(events.Tags()['scalars'])
    assert (work_dir / 'last_checkpoint').read_text() == 'epoch_3.pth'
    assert len(list(work_dir.glob('best_toy_accuracy_*.pth'))) == 1


def test_a_run_is_resumed_by_path_or_from_where_it_stands(config_file):
    train(config_file, work_dir='whole', cfg_options={'default_hooks.checkpoint.max_keep_ckpts': -1})
    train(config_file, work_dir='by_path', resume='whole/epoch_2.pth')
    whole, rest = record('whole'), record('by_path')
    assert {i for _, i in rest} == set(range(21, 31))
    assert rest == {key: whole[key] for key in rest}
    runner = train(config_file, work_dir='whole', resume='auto', cfg_options={'train_cfg.max_epochs': 4})
    assert runner.iter == 40
    assert train(config_file, work_dir='fresh', resume='auto', cfg_options={'train_cfg.max_epochs': 1}).iter == 10


def test_options_reach_the_runner(config_file):
    runner = train(
        config_file,
        work_dir='w',
        amp=True,
        validate=False,
        auto_scale_lr=True,
        cfg_options={
            'optim_wrapper.dtype': 'float16',
            'train_cfg.max_epochs': 1
        })
    assert type(runner.optim_wrapper).__name__ == 'FaceAmpOptimWrapper'
    assert runner.optim_wrapper.dtype is torch.float16
    assert runner.val_loop is None
    assert runner.optim_wrapper.param_groups[0]['initial_lr'] == pytest.approx(.1 * 4 / 16)


def test_scaling_the_learning_rate_needs_to_know_its_batch_size(config_file):
    config = Config({key: value for key, value in Config.fromfile(config_file).items() if key != 'auto_scale_lr'})
    with pytest.raises(ValueError, match='needs auto_scale_lr=dict'):
        train(config, work_dir='w', auto_scale_lr=True)


def test_a_config_that_is_passed_in_stays_as_it_is(config_file):
    config = Config.fromfile(config_file)
    before = config.to_dict()
    train(config, work_dir='w', validate=False, cfg_options={'train_cfg.max_epochs': 1, 'train_dataloader.num_workers': 1})
    assert config.to_dict() == before


def test_loaders_fit_the_machine():
    loader = dict(num_workers=0, persistent_workers=True, pin_memory=True)
    config = Config(dict(train_dataloader=dict(loader), val_dataloader=dict(loader, num_workers=2), test_dataloader=None, launcher='none'))
    train_api.prepare_devices(config)
    assert config.train_dataloader == dict(num_workers=0, persistent_workers=False, pin_memory=torch.cuda.is_available())
    assert config.val_dataloader.persistent_workers is True


def test_denormal_numbers_are_flushed_on_the_cpu(config_file):
    torch.set_flush_denormal(False)
    train(config_file, work_dir='w', validate=False, cfg_options={'train_cfg.max_epochs': 1})
    assert (torch.full((4, ), 1e-30) * 1e-10).tolist() == [0] * 4
    torch.set_flush_denormal(False)


def test_the_tools_pass_all_their_flags_on():
    """Each flag of a tool is an argument of the function that it calls, and the other way round."""
    for command, function in ((train_command, train_api.train), (test_command, run_test.run_test)):
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        taken = {action.dest for action in parser._actions} - {'help', 'local_rank'}
        assert taken == set(inspect.signature(function).parameters)


def test_a_checkpoint_is_trained_and_tested_on_the_command_line(config_file):
    trained = run_tool('train.py', config_file, '--work-dir', 'w', '--amp', '--cfg-options', 'train_cfg.max_epochs=1')
    assert trained.returncode == 0, trained.stderr
    assert 'mmface' not in trained.stderr
    assert tool('test').main([str(config_file), 'w/epoch_1.pth', '--work-dir', 't', '--out', 'result.json']) == 0
    numbers = json.loads(Path('result.json').read_text())
    assert numbers['toy/accuracy'] == float.fromhex(record('w')['val', 10][0])


def test_bad_input_exits_with_2_and_says_what_is_wrong_in_the_last_line(config_file, capsys):
    assert tool('train').main(['missing.py']) == 2
    assert 'missing.py' in capsys.readouterr().err.splitlines()[-1]
    assert tool('test').main([str(config_file), 'missing.pth']) == 2
    assert capsys.readouterr().err.splitlines()[-1] == 'test: missing.pth can not be found.'


def test_resuming_where_nothing_was_saved_still_loads_the_weights_to_start_from(config_file):
    train(config_file, work_dir='w', cfg_options={'train_cfg.max_epochs': 1})
    train(config_file, work_dir='fine', resume='auto', cfg_options={'train_cfg.max_epochs': 1, 'load_from': 'w/epoch_1.pth'})
    assert 'Load checkpoint from w/epoch_1.pth' in log_of('fine')
    assert {i for _, i in record('fine')} == set(range(1, 11))


def test_half_precision_tests_too(config_file):
    train(config_file, work_dir='w', cfg_options={'train_cfg.max_epochs': 1})
    exact, half = (tried(config_file, 'w/epoch_1.pth', work_dir='t', amp=amp) for amp in (False, True))
    assert exact['toy/accuracy'] == float.fromhex(record('w')['val', 10][0])
    assert half['toy/accuracy'] != exact['toy/accuracy']
    assert half['toy/accuracy'] == pytest.approx(exact['toy/accuracy'], rel=.02)


def test_a_config_without_a_test_says_so(config_file):
    with pytest.raises(ValueError, match='no test_dataloader: nothing to test on'):
        tried(config_file, 'any.pth', work_dir='w', cfg_options={'test_dataloader': None})


def test_two_processes_train_and_test_through_the_scripts_and_none_ends_with_threads_that_could_abort_it(config_file):
    config_file.write_text(config_file.read_text().replace("'toy_training'", "'toy_training', 'threads_at_exit'"))
    port = str(29500 + os.getpid() % 500)
    done = run_tool('dist_train.sh', config_file, 2, '--work-dir', 'w', '--cfg-options', 'train_cfg.max_epochs=1', PORT=port)
    assert done.returncode == 0, done.stderr
    assert len([key for key in record('w') if key[0] == 'train']) == 5  # 19 of 38 images each, in batches of 4
    assert (Path('w') / 'last_checkpoint').read_text() == 'epoch_1.pth'
    ended = [Path(f'threads{rank}') for rank in range(2)]
    assert [file.read_text() for file in ended] == ['0', '0']
    for file in ended:
        file.unlink()
    done = run_tool('dist_test.sh', config_file, 'w/epoch_1.pth', 2, '--work-dir', 't', PORT=port)
    assert done.returncode == 0, done.stderr
    assert [file.read_text() for file in ended] == ['0', '0']


@pytest.mark.parametrize('script', ['dist_train.sh', 'dist_test.sh', 'slurm_train.sh'])
def test_the_scripts_are_valid_and_executable(script):
    path = ROOT / 'tools' / script
    assert os.access(path, os.X_OK)
    assert subprocess.run(['bash', '-n', path], capture_output=True, check=False).returncode == 0


def test_the_slurm_script_asks_for_what_it_is_told(tmp_path):
    fake = tmp_path / 'srun'
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)
    done = run_tool(
        *('slurm_train.sh', 'gpu', 'job', 'c.py', 'w', '--amp'),
        PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        PYTHON='python',
        GPUS='4',
        GPUS_PER_NODE='2',
        SRUN_ARGS='--time 60')
    assert done.stdout.split() == [
        '-p', 'gpu', '--job-name=job', '--gres=gpu:2', '--ntasks=4', '--ntasks-per-node=2', '--cpus-per-task=5', '--kill-on-bad-exit=1',
        '--time', '60', 'python', '-u', str(ROOT / 'tools/train.py'), 'c.py', '--work-dir=w', '--launcher', 'slurm', '--amp'
    ]

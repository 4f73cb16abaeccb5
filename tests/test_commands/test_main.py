"""The command itself: what it lists, what it refuses, how it ends."""
import argparse
import json
import signal
import subprocess
import sys

import pytest

from mmface.commands import main as module
from mmface.commands.main import COMMANDS, build_parser, command_module, main
from mmface.version import __version__

HEAVY = {'torch', 'mmengine.runner', 'mmpretrain', 'onnx', 'onnxruntime', 'scipy', 'matplotlib', 'mmface.apis', 'mmface.datasets'}
LOADED = f"""
import sys
from mmface.commands.main import COMMANDS, main
for arguments in (['--help'], ['tran'], ['--version'], *([command, '--help'] for command in COMMANDS)):
    try:
        main(arguments)
    except SystemExit:
        pass
print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)
"""


def actions(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))


def test_every_command_has_a_help_that_says_what_it_does_and_how_it_ends():
    for name, parser in actions(build_parser()).items():
        module = command_module(name)
        assert module.__doc__.strip() in parser.format_help()
        assert 'Exit codes: 0' in parser.format_help()


def test_help_and_refusals_load_nothing_that_takes_seconds():
    done = subprocess.run([sys.executable, '-c', LOADED], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.splitlines()[-1] == '[]'


@pytest.mark.parametrize(('wrong', 'meant'), [('trian', 'train'), ('evalute', 'evaluate'), ('Demo', 'demo'), ('modles', 'models')])
def test_a_misspelt_command_is_answered_with_the_nearest(capsys, wrong, meant):
    with pytest.raises(SystemExit) as stopped:
        main([wrong, '--whatever'])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"mmface: error: there is no command '{wrong}'; did you mean {meant}?"


def test_a_command_like_no_other_is_answered_with_all(capsys):
    with pytest.raises(SystemExit):
        main(['qqq'])
    assert ', '.join(COMMANDS) in capsys.readouterr().err


def test_without_a_command_there_is_the_help_and_exit_code_2(capsys):
    assert main([]) == 2
    said = capsys.readouterr()
    assert said.out == ''
    assert said.err.startswith('usage: mmface ')


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(['--version'])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f'mmface {__version__}\n'


def test_bad_input_is_one_line_that_names_the_command(capsys):
    assert main(['doctor', 'nowhere']) == 2
    said = capsys.readouterr().err
    assert said.startswith('mmface doctor: ')
    assert len(said.splitlines()) == 1


def test_ctrl_c_ends_quietly_with_130():
    code = ('import signal, sys, time\nfrom mmface.utils.command import run_command\n'
            'signal.signal(signal.SIGINT, signal.default_int_handler)\n'  # ignored by children of a job in the background
            'sys.exit(run_command("x", lambda: (print("started", flush=True), time.sleep(60))))')
    running = subprocess.Popen([sys.executable, '-c', code], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.readline() == 'started\n'
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, '')


@pytest.mark.parametrize('unbuffered', ['', '1'])
def test_a_reader_who_stops_reading_is_no_error(environment, unbuffered):
    running = subprocess.Popen(['mmface', 'completion', 'bash'], env=environment | {'PYTHONUNBUFFERED': unbuffered}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # yapf: disable
    running.stdout.close()
    said = running.stderr.read()
    assert (running.wait(timeout=60), said) == (141, '')


def test_a_broken_pipe_that_is_not_the_output_is_an_error(capsys, monkeypatch):

    def run(_):
        raise BrokenPipeError('the other process is gone')

    monkeypatch.setattr(module, 'command_module', lambda name: argparse.Namespace(run=run, add_arguments=lambda parser: None, __doc__='x'))
    assert main(['demo']) == 2
    assert capsys.readouterr().err == 'mmface demo: the other process is gone\n'


def test_what_json_prints_is_json_even_when_it_is_an_error(capsys, tmp_path):
    assert main(['gallery', 'info', str(tmp_path / 'nowhere'), '--json']) == 2
    assert 'nowhere' in json.loads(capsys.readouterr().out)['error']


def test_the_module_runs_as_the_command():
    done = subprocess.run([sys.executable, '-m', 'mmface', '--version'], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f'mmface {__version__}\n'


@pytest.mark.parametrize('name', ['verify', 'gallery', 'web'])
def test_whoever_compares_people_is_told_what_that_cannot_do(name):
    text = actions(build_parser())[name].format_help()
    assert 'not a probability' in text
    assert 'a printed photo passes' in text
    assert 'consent' in text

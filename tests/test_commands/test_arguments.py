"""The arguments of the commands against the functions behind them, and the scripts against the commands."""
import argparse
import runpy
from pathlib import Path

import pytest

from mmface.apis.face_cropper import CHOICES
from mmface.apis.onnx_session import PROVIDERS
from mmface.commands import align, arguments, convert, evaluate, export
from mmface.commands.main import COMMANDS, build_parser, command_module, script
from mmface.evaluation import POOLING_PRESETS
from mmface.export import PRECISIONS
from mmface.zoo.layouts import LAYOUTS

TOOLS = Path(__file__).resolve().parents[2] / 'tools'
SCRIPTS = {'web': 'web_demo', 'doctor': 'dataset_doctor', 'align': 'dataset_converters/align', 'convert': 'model_converters/convert'}
NOT_SCRIPTS = {'split', 'models', 'completion'}


def test_the_choices_that_a_parser_names_are_those_that_there_are():
    assert tuple(PROVIDERS) == arguments.PROVIDERS
    assert tuple(PRECISIONS) == export.PRECISIONS
    assert tuple(LAYOUTS) == convert.FAMILIES
    assert tuple(CHOICES) == align.CHOICES
    assert tuple(sorted(POOLING_PRESETS)) == evaluate.PRESETS


@pytest.mark.parametrize('name', [name for name in COMMANDS if name not in NOT_SCRIPTS])
def test_the_script_of_a_command_takes_what_the_command_takes(name, capsys, monkeypatch):
    tool = TOOLS / f'{SCRIPTS.get(name, name)}.py'
    monkeypatch.setattr('sys.argv', [str(tool)])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(tool))['main'](['--help'])
    assert stopped.value.code == 0
    own = capsys.readouterr().out
    with pytest.raises(SystemExit):
        build_parser().parse_args([name, '--help'])
    whole = capsys.readouterr().out
    assert _from_the_description_on(own) == _from_the_description_on(whole)
    assert len(tool.read_text().splitlines()) < 15


def test_every_script_that_stands_in_tools_is_a_command():
    assert {file.stem for file in TOOLS.glob('*.py')} == {SCRIPTS.get(name, name) for name in COMMANDS if name not in NOT_SCRIPTS} - {
        'dataset_converters/align', 'model_converters/convert'}


def test_options_that_do_not_fit_together_end_with_the_usage_of_the_command(capsys):
    with pytest.raises(SystemExit) as stopped:
        script(command_module('verify'), 'verify')(['model.onnx', 'one.jpg'])
    assert stopped.value.code == 2
    assert 'give two photos' in capsys.readouterr().err


def test_the_arguments_of_a_network_are_the_same_everywhere():
    """What says how a network's numbers come of a picture is one set of options, wherever a network is taken."""
    wanted = {'--mean', '--std', '--color', '--size'}
    for name in ('evaluate', 'verify', 'web', 'annotate', 'doctor'):
        parser = argparse.ArgumentParser()
        command_module(name).add_arguments(parser)
        assert wanted <= set(parser._option_string_actions), name


def _from_the_description_on(text: str) -> list[str]:
    return text.partition('\n\n')[2].splitlines()


@pytest.mark.parametrize('option', ['a', 'a=[1,2', 'a=[dict(b=1,c=2)]'])
def test_an_option_that_is_no_key_and_value_ends_with_the_usage(option, capsys):
    with pytest.raises(SystemExit, match='2'):
        build_parser().parse_args(['train', 'config.py', '--cfg-options', 'x=1', option])
    assert f'--cfg-options: cannot read {option!r}: expected KEY=VALUE' in capsys.readouterr().err


def test_options_are_read_as_mmengine_reads_them_but_for_spaces():
    words = ['x=1', 'y=[1, 2.5,a]', 'z=None', 'w=true', 'path=data/my faces/train.rec', "q='b'"]
    found = build_parser().parse_args(['train', 'config.py', '--cfg-options', *words]).cfg_options
    assert found == dict(x=1, y=[1, 2.5, 'a'], z=None, w=True, path='data/my faces/train.rec', q='b')

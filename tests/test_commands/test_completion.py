"""Completion, asked for by the shells themselves."""
import shutil

import pytest

from mmface.commands.completers import complete_model
from mmface.commands.main import COMMANDS, main
from mmface.zoo import model_index

OFFERED = {
    'mmface tr': ['train'],
    'mmface train --res': ['--resume'],
    'mmface train x --launcher s': ['slurm'],
    'mmface train arcface_mobilefacenet_1xb32': ['arcface_mobilefacenet_1xb32_own-photos'],
    'mmface gallery en': ['enroll'],
    'mmface models info arcface_mobilefacenet_proc': ['arcface_mobilefacenet_procedural'],
    'mmface verify min': ['mine.onnx'],
}
ASK = """
COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({line}{blank}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9
COMPREPLY=(); _python_argcomplete mmface
echo "? {line}"; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
INTO_SHELL = {'fish': 'mmface completion fish | source', 'tcsh': 'eval "`mmface completion tcsh`"',
              'zsh': 'autoload -U compinit; compinit -u; eval "$(mmface completion zsh)"'}  # yapf: disable


@pytest.mark.skipif(shutil.which('bash') is None, reason='needs bash')
def test_bash_completes_commands_options_choices_configs_models_and_files(shell, tmp_path):
    (tmp_path / 'mine.onnx').touch()
    (tmp_path / 'mine.txt').touch()
    lines = [*OFFERED, 'mmface ']
    done = shell('\n'.join(['eval "$(mmface completion bash)"',
                            *(ASK.format(line=line, blank=' ""' * line.endswith(' ')) for line in lines)]))  # yapf: disable
    assert done.returncode == 0, done.stderr
    answers = {block.splitlines()[0]: [word.strip() for word in block.splitlines()[1:] if word.strip()]
               for block in done.stdout.split('? ')[1:]}  # yapf: disable
    assert set(COMMANDS) <= set(answers.pop('mmface '))
    assert answers == OFFERED


@pytest.mark.skipif(shutil.which('fish') is None, reason='needs fish')
def test_fish_completes_too(shell):
    done = shell('mmface completion fish | source; complete -C "mmface tr"; complete -C "mmface train --res"', 'fish')
    assert [line.split('\t')[0] for line in done.stdout.splitlines()] == ['train', '--resume'], done.stderr


@pytest.mark.parametrize('program', ['bash', 'zsh', 'fish', 'tcsh'])
def test_what_is_printed_is_accepted_by_the_shell(program, shell, capsys):
    assert main(['completion', program]) == 0
    assert 'mmface' in capsys.readouterr().out
    if shutil.which(program) is None:
        pytest.skip(f'{program} is not installed')
    done = shell(INTO_SHELL.get(program, f'eval "$(mmface completion {program})"'), program)
    assert (done.returncode, done.stderr) == (0, '')


def test_the_names_offered_are_those_of_the_zoo():
    assert sorted(complete_model('')) == model_index().names()

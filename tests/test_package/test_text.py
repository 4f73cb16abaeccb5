"""What the files of the project may say."""
import re

import pytest

MACHINE = re.compile(r'(?<![\w.$}])[/](work|root|tmp)/[A-Za-z]')
REGISTRY = re.compile(r'pypi[.]org|pythonhosted[.]org|registry[.]npmjs|deb[.]debian|download[.]pytorch[.]org/whl')


def said(files, pattern) -> list[str]:
    found = []
    for file in files:
        try:
            lines = file.read_text(encoding='utf-8').splitlines()
        except UnicodeDecodeError:
            continue
        found += [f'{file.name}:{at}: {line.strip()[:100]}' for at, line in enumerate(lines, 1) if pattern.search(line)]
    return found


def test_no_file_names_a_path_of_somebodys_machine(files):
    assert said(files, MACHINE) == []


def test_no_file_names_a_package_registry(files):
    assert said(files, REGISTRY) == []


@pytest.mark.parametrize('text', ['cd %swork/x', '"%sroot/me"', '(%stmp/out)'])
def test_a_path_of_a_machine_is_seen(text):
    assert MACHINE.search(text % '/')


@pytest.mark.parametrize('text', ['a/work/b', 'work/main', '../tmp/x', '$ROOT/tmp/x', 'https://host/x'])
def test_other_paths_pass(text):
    assert not MACHINE.search(text)


def test_text_files_end_with_one_newline_and_have_no_trailing_blanks(files):
    wrong = []
    for file in files:
        if file.suffix in {'.py', '.md', '.toml', '.txt', '.yml', '.sh'}:
            text = file.read_text(encoding='utf-8')
            if text and (not text.endswith('\n') or text.endswith('\n\n') or re.search(r'[ \t]\n', text)):
                wrong.append(file.name)
    assert wrong == []


def test_no_placeholder_is_left(files):
    assert said(files, re.compile(r'[A-Z]_SECTIO[N]\b|RESULT_[a-z]|DEMO_TIM[E]|to be measure[d]')) == []

"""What the documents tell people to type: every line parses, and those of the two guides are run as they stand there."""
import re
import runpy
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from documents import DOCUMENTS, ROOT, command_lines

from mmface.commands.configs import find_config
from mmface.commands.main import COMMANDS, build_parser, main
from mmface.datasets.procedural import ProceduralFaces, SetSizes

OFFSET = (40, 30)  # of the face in a photo, (x, y)


def identify(document: Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.mark.parametrize('document', DOCUMENTS, ids=identify)
def test_every_line_with_the_command_parses(document, capsys):
    parser = build_parser()
    for words in command_lines(document, 'mmface', quoted=document.stem == 'command_line'):
        if words[1] in COMMANDS:
            try:
                args = parser.parse_args(words[1:])
            except SystemExit:
                pytest.fail(f'{" ".join(words)}: {capsys.readouterr().err}')
            if words[1] in ('train', 'test') and '/' not in args.config and Path(args.config).suffix != '.py':
                find_config(args.config)


@pytest.mark.parametrize('document', DOCUMENTS, ids=identify)
def test_every_script_that_is_named_is_there_and_those_that_are_commands_parse(document, capsys, monkeypatch):
    for words in command_lines(document, r'python (?=\S*tools/)\S+|tools/\S+\.(py|sh)'):
        name = next(word for word in words if 'tools/' in word)
        script = ROOT / name[name.index('tools/'):]
        assert script.is_file(), words
        if 'mmface.commands' in script.read_text() and script.suffix == '.py' and 'analysis' not in script.parts:
            _parse(script, words[words.index(name) + 1:], capsys, monkeypatch)


def _parse(script: Path, arguments: list[str], capsys, monkeypatch) -> None:
    tool = runpy.run_path(str(script))
    command = next(value for key, value in tool.items() if hasattr(value, 'add_arguments'))
    monkeypatch.setattr(command, 'run', lambda args: 0)
    try:
        assert tool['main'](arguments) == 0
    except SystemExit:
        pytest.fail(f'{script.name} {" ".join(arguments)}: {capsys.readouterr().err}')


def test_every_command_is_in_the_table_of_the_document_with_an_example():
    document = ROOT / 'docs/command_line.md'
    shown = {words[1] for words in command_lines(document, 'mmface', quoted=True)}
    assert set(COMMANDS) <= shown
    rows = [line.split('|')[1].strip(' `') for line in document.read_text().splitlines() if line.startswith('| `')]
    assert rows[:len(COMMANDS)] == list(COMMANDS)


DETECTOR = f"""
from mmface.functional.geometry import landmark_template

def points(image):
    return landmark_template((112, 112), 'arcface') + {OFFSET}
"""


def photograph(faces: ProceduralFaces, person: int, picture: int) -> np.ndarray:
    """A photo in which the face is somewhere."""
    photo = np.full((190, 200, 3), 127, np.uint8)
    photo[OFFSET[1]:OFFSET[1] + 112, OFFSET[0]:OFFSET[0] + 112] = faces.draw(person, picture)[0][..., ::-1]
    return photo


TINY = ['model.backbone.width=.125', 'model.backbone.stem_stride=4', 'model.neck.feat_size=4']
SMALL = {  # what makes a line quick, or independent of a network; everything else is run as it stands
    'align': ['--detector', 'known_place:points', '--workers', '1'],
    'doctor': ['--processes', '1'],
    'train': ['train_cfg.max_epochs=1', 'param_scheduler.1.end=1', 'train_dataloader.num_workers=0', *TINY],
    'test': TINY,
    'export': TINY,
    'evaluate': ['--no-cache'],
}
CROPS = {'verify', 'web', 'enroll', 'search'}  # no detector: the photos are exchanged for crops


def run_line(words: list[str]) -> None:
    """Runs a line of a document, a smaller one where that is needed."""
    action = words[2] if words[1] == 'gallery' else words[1]
    aligned = ['--aligned'] if action in CROPS and '--aligned' not in words else []
    arguments = [word.replace('epoch_12.pth', 'epoch_1.pth') for word in [*words[1:], *aligned, *SMALL.get(words[1], [])]]
    code = main(arguments)
    assert code == 0, ' '.join(words)


@pytest.fixture
def no_waiting(monkeypatch):
    """The page is made and served, and Ctrl-C comes at once."""
    from mmface.apis import web_demo
    served = []

    def make(*args):
        server = real(*args[:2], 0, *args[3:])
        monkeypatch.setattr(server, 'serve_forever', lambda: served.append(server.port))
        return server

    real = web_demo.make_web_server
    monkeypatch.setattr(web_demo, 'make_web_server', make)
    return served


@pytest.mark.slow
def test_the_guide_to_own_photos_is_run_from_photos_to_a_checked_file_and_questions(tmp_path, monkeypatch, no_waiting):
    faces = ProceduralFaces()
    for person in range(100):
        folder = tmp_path / 'photos' / ('anna' if person == 0 else f'person{person}')
        folder.mkdir(parents=True)
        for picture in range(2):
            cv2.imwrite(str(folder / f'{picture}.png'), photograph(faces, person, picture))
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'known_place.py').write_text(DETECTOR)
    monkeypatch.syspath_prepend(tmp_path)
    for words in _guide('train_on_your_own_photos.md'):
        run_line(words)
        if words[1] == 'align':  # from here on photos are asked about without a detector
            shutil.copy('aligned/anna/0.jpg', 'one.jpg')
            shutil.copy('aligned/anna/1.jpg', 'two.jpg')
            shutil.rmtree('photos')
            shutil.copytree('aligned', 'photos', ignore=shutil.ignore_patterns('align_*'))
    assert no_waiting
    assert {'mine.onnx', 'result.json', 'report.html', 'thresholds.json', 'people.gallery'} <= {file.name for file in Path().iterdir()}


@pytest.mark.slow
def test_the_first_steps_are_run(tmp_path, monkeypatch, no_waiting):
    from functools import partial

    from mmface.apis import demo
    sizes = SetSizes(people=6, pictures=4, test_people=32, test_pictures=4, folds=2, pairs=240)
    options = {'train_cfg.max_epochs': 1, 'train_dataloader.batch_size': 8}
    monkeypatch.setattr(demo, 'run_demo', partial(demo.run_demo, sizes=sizes, cfg_options=options))
    monkeypatch.chdir(tmp_path)

    def strangers(found: re.Match) -> str:
        return f'face{sizes.people + int(found[1]):05d}'  # the first people who were not trained on

    for words in _guide('getting_started.md'):
        if words[1] == 'demo':
            assert main([*words[1:], '--threads', '1']) == 1  # so little data teaches less than the demo promises
        else:
            run_line([re.sub('face006(0[01])', strangers, word) for word in words])
    assert no_waiting


def _guide(name: str) -> list[list[str]]:
    """The lines of a guide."""
    return [words for words in command_lines(ROOT / 'docs' / name, 'mmface') if words[1] != '--version']

"""The comparison of recipes as a command, from nothing to its tables."""
import csv
import json
import runpy
from pathlib import Path

import pytest

from mmface.datasets import DataFormatWarning
from mmface.datasets.procedural import ProceduralFaces

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope='module')
def arena():
    return runpy.run_path(str(ROOT / 'tools/analysis/arena.py'))['main']


@pytest.fixture(scope='module')
def smoke(arena, tmp_path_factory):
    out = tmp_path_factory.mktemp('arena')
    assert arena(['losses', '--setting', 'smoke', '--processes', '2', '--out', str(out)]) == 0
    return out


@pytest.mark.slow
def test_the_smoke_setting_runs_from_nothing_to_its_tables(smoke):
    found = json.loads((smoke / 'losses_procedural_smoke.json').read_text())
    assert (found['seeds'], found['genuine'], found['impostors']) == ([0, 1, 2], 60, 720)
    first, second = found['rows']
    assert (first['label'], first['differences'], second['label']) == ('ArcFace', {}, 'P2SGrad')
    for row in (first, second):
        assert (row['status'], row['seeds'], len(row['trainings'])) == ('finished', 3, 3)
        assert all(0 <= found['value'] <= 1 for found in row['means'].values())
        assert all(len(sha) == 64 for result in row['trainings'] for sha in result['logs'].values())
    for measure, difference in second['differences'].items():
        assert difference['value'] == pytest.approx(second['means'][measure]['value'] - first['means'][measure]['value'])
        low, high = difference['interval']
        assert difference['verdict'] == ('tie' if low <= 0 <= high else 'better' if low > 0 else 'worse')
    text = (smoke / 'losses_procedural_smoke.md').read_text()
    assert all(word in text for word in ('TAR@FAR=1e-2', 'TAR@FAR=1e-3', 'accuracy', 'detectable', 'torch', found['logs_sha256'][:12]))
    rows = list(csv.DictReader((smoke / 'losses_procedural_smoke.csv').open()))
    assert len(rows) == 6
    assert (smoke / 'losses_procedural_smoke.svg').is_file() and (smoke / 'losses_procedural_smoke.png').is_file()


@pytest.mark.slow
def test_nothing_is_trained_twice_and_another_question_is_answered_by_the_same_trainings(arena, smoke, capsys):
    before = {path: path.stat().st_mtime_ns for path in smoke.rglob('result.json')}
    assert len(before) == 6
    report = (smoke / 'losses_procedural_smoke.md').read_text()
    for experiment in ('losses', 'schedule'):
        assert arena([experiment, '--setting', 'smoke', '--out', str(smoke)]) == 0
    assert {path: path.stat().st_mtime_ns for path in smoke.rglob('result.json')} == before
    assert (smoke / 'losses_procedural_smoke.md').read_text() == report
    assert '| P2SGrad, 25% |' in capsys.readouterr().out


@pytest.mark.slow
def test_a_report_of_what_was_not_run_says_so(arena, smoke, capsys):
    assert arena(['learning-rates', '--setting', 'smoke', '--out', str(smoke), '--report']) == 0
    out = capsys.readouterr().out
    assert '| ArcFace, 0.0001 |  |  |  | missing | 0 |  |' in out
    assert '| ArcFace, 0.1 | ' in out and 'tie' in out
    assert len(list(smoke.rglob('result.json'))) == 6


def test_bad_usage_is_answered_in_one_line(arena, tmp_path, capsys):
    for options, said in ((['--images', 'lfw.tar'], '--images and --pairs'), (['--losses', 'Arc Face'], 'is no loss'),
                          (['--processes', '0'], 'at least one process')):
        assert arena(['losses', '--setting', 'smoke', '--out', str(tmp_path), *options]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.slow
def test_a_folder_of_crops_and_a_list_of_pairs_are_trained_and_tested_on(arena, tmp_path, capsys):
    faces, names = ProceduralFaces(0), [f'Person_{chr(65 + at)}' for at in range(26)]
    for number, name in enumerate(names):
        for picture in range(3):
            path = tmp_path / f'lfw/{name}/{name}_{picture + 1:04d}.jpg'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(faces.jpeg(number, picture))
    lines = ['10\t10']
    for fold in range(10):
        held = names[2 * fold:2 * fold + 2] if fold < 9 else names[18:]
        lines += [f'{held[at % len(held)]}\t{1 + at // len(held) % 2}\t3' for at in range(10)]
        lines += [f'{held[at % len(held)]}\t{1 + at // len(held) % 3}\t{held[(at + 1) % len(held)]}\t{1 + at % 3}' for at in range(10)]
    (tmp_path / 'pairs.txt').write_text('\n'.join(lines))
    options = '--images', str(tmp_path / 'lfw'), '--pairs', str(tmp_path / 'pairs.txt'), '--seeds', '0', '--losses', 'CosFace'
    with pytest.warns(DataFormatWarning):  # the made-up list has pairs twice
        assert arena(['losses', '--setting', 'smoke', '--out', str(tmp_path / 'out'), *options]) == 0
    found = json.loads((tmp_path / 'out/losses_lfw_smoke.json').read_text())
    assert (found['train_people'], found['train_images'], found['test_people'], found['test_images']) == (18, 54, 8, 24)
    assert (found['genuine'], found['impostors'], found['listed_pairs']) == (24, 252, 20)
    assert found['rows'][0]['status'] == 'finished'
    assert capsys.readouterr().out.count('\n| CosFace |') == 3

"""The papers' figures of losses: one command each, a PNG, an SVG and the numbers."""
import csv
import importlib.util
import json
import math
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]


def run(name, tmp_path, capsys, *arguments):
    spec = importlib.util.spec_from_file_location(name, ROOT / f'tools/analysis/{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    code = module.main([*arguments, '--out', str(tmp_path / 'of/figure')])
    rows = list(csv.DictReader((tmp_path / 'of/figure.csv').open())) if code == 0 else []
    return code, rows, capsys.readouterr().err


def check_pictures(folder):
    Image.open(folder / 'of/figure.png').verify()
    assert (folder / 'of/figure.svg').read_text().startswith('<?xml')
    assert sorted(file.name for file in (folder / 'of').iterdir()) == ['figure.csv', 'figure.png', 'figure.svg']


def test_probabilities(tmp_path, capsys):
    options = '--scales', '10', '20', '--margins', '0', '--classes', '5'
    code, rows, _ = run('probability', tmp_path, capsys, '--losses', 'CosFaceLoss', *options)
    assert code == 0
    check_pictures(tmp_path)
    found = {(row['varied'], row['curve'], round(float(row['theta_rad']), 4)): float(row['probability']) for row in rows}
    at_60_degrees = found['s', 'CosFaceLoss s = 20, m = 0, C = 1000', round(math.pi / 3, 4)]
    assert at_60_degrees == pytest.approx(1 / (1 + 999 * math.exp(-10)), rel=1e-9)
    assert {row['varied'] for row in rows} == {'s', 'm', 'C'}
    assert run('probability', tmp_path, capsys, '--losses', 'P2SGradLoss')[::2] == (
        2, 'probability: P2SGradLoss is no softmax over classes: it gives no probability\n')


def test_gradients(tmp_path, capsys):
    code, rows, _ = run('gradient', tmp_path, capsys, '--losses', 'P2SGradLoss', 'dict(type="CosFaceLoss", s=20.)')
    assert code == 0
    check_pictures(tmp_path)
    for row in rows:
        if row['loss'] == 'P2SGradLoss':
            assert float(row['scaling']) == pytest.approx(math.cos(float(row['theta_rad'])) - 1, abs=1e-12)
            assert row['slope'] == 'nan'
    assert {row['slope'] for row in rows if row['loss'].startswith('CosFace')} >= {'nan', '20.0'}
    assert run('gradient', tmp_path, capsys, '--apart', '0')[0] == 2


def test_boundaries(tmp_path, capsys):
    code, rows, _ = run('boundary', tmp_path, capsys, '--losses', 'dict(type="ArcFaceLoss", m=.2)', '--apart', '80')
    assert code == 0
    check_pictures(tmp_path)
    plane, = [row for row in rows if row['part'] == 'plane']
    assert float(plane['x_or_theta_rad']) == pytest.approx((math.radians(80) - .2) / 2, abs=1e-9)
    assert {row['class'] for row in rows if row['part'] == 'sphere'} == {'1', '2'}
    code, _, err = run('boundary', tmp_path, capsys, '--losses', 'P2SGradLoss')
    assert code == 2
    assert 'no boundary between classes' in err


def record(iteration, shift, **state):
    summary = dict(mean=50. + shift - iteration, p5=40., p25=45., p50=50., p75=55., p95=60.)
    return json.dumps(dict(iter=iteration, theta_y=summary, theta_j=summary, gradient=summary, feature_norm=summary, state=state)) + '\n'


def test_curves_of_two_trainings(tmp_path, capsys):
    for name, state in (('one', {}), ('two', dict(norm_mean=20., norm_std=2.))):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'training_curves.jsonl').write_text(''.join(record(i, len(state), **state) for i in (2, 4)))
    code, rows, _ = run('curves', tmp_path, capsys, str(tmp_path / 'one'), f'second={tmp_path / "two/training_curves.jsonl"}')
    assert code == 0
    check_pictures(tmp_path)
    found = {(row['training'], row['quantity'], row['iteration'], row['kind']): float(row['value']) for row in rows}
    assert found['one', 'theta_y', '4', 'mean'] == 46
    assert found['second', 'gradient', '2', 'p95'] == 60
    assert found['second', 'state', '4', 'norm_mean'] == 20
    assert len(rows) == 2 * 4 * 2 * 6 + 4


def test_a_training_without_records_is_named(tmp_path, capsys):
    assert f'{tmp_path}/none: there are no records' in run('curves', tmp_path, capsys, str(tmp_path / 'none'))[2]
    code, _, err = run('curves', tmp_path, capsys, str(tmp_path))
    assert code == 2
    assert 'training_curves.jsonl: there are no records; add custom_hooks=[dict(type="TrainingCurvesHook")]' in err
    (tmp_path / 'training_curves.jsonl').write_text(record(2, 0) + 'oops\n')
    assert 'training_curves.jsonl, line 2: not a record' in run('curves', tmp_path, capsys, str(tmp_path))[2]

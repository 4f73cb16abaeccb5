"""The benchmarks of inference run and count right; how fast it is they say elsewhere."""
import importlib.util
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from mmface.export.annotate import annotate_onnx

TOOLS = Path(__file__).parents[2] / 'tools/analysis'


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def model(shared, tmp_path_factory):
    path = tmp_path_factory.mktemp('model') / 'ours.onnx'
    annotate_onnx(shared / 'models/mobilefacenet.onnx', path, mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375), color='RGB',
                  size=(112, 112))  # yapf: disable
    return path


def test_embedder_and_bare_loop_take_turns(model, capsys):
    assert load('benchmark_infer').main([str(model), '--batch', '1', '2', '--images', '6', '--threads', '1', '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row['batch'] for row in found['results']] == [1, 2]
    for row in found['results']:
        assert row['ratio'] == pytest.approx(row['ours'] / row['bare'])


def test_a_missing_file_is_2(capsys, tmp_path):
    assert load('benchmark_infer').main([str(tmp_path / 'none.onnx')]) == 2
    assert 'none.onnx' in capsys.readouterr().err


@pytest.mark.slow
def test_one_command_makes_the_table_of_precisions(shared, model, tmp_path, capsys):
    lines = [line for line in (shared / 'data/lfw_pairs.txt').read_text().splitlines() if line.strip()][1:]
    few = [line for fold in range(2) for start in (600 * fold, 600 * fold + 300) for line in lines[start:start + 4]]
    names = {name for line in few for name in line.split('\t') if not name.isdigit()}
    with tarfile.open(shared / 'data/lfw112.tar') as archive:
        archive.extractall(tmp_path, [entry for entry in archive if entry.isfile() and entry.name.split('/')[-2] in names], filter='data')
    (tmp_path / 'few.txt').write_text('\n'.join(['2\t4', *few, '']))
    out = tmp_path / 'files'
    out.mkdir()
    code = load('benchmark_precision').main([
        str(model), '--gate-set', str(tmp_path / 'few.txt'), '--gate-images', str(tmp_path), '--images', str(tmp_path), '--calibrate', '8',
        '--threads', '1', '--calls', '16', '--out', str(out), '--json'])  # yapf: disable
    rows = json.loads(capsys.readouterr().out)['formats']
    assert code == 0
    assert [row['format'] for row in rows] == ['fp32', 'fp16', 'int8']
    assert [row['bytes'] for row in rows] == [file.stat().st_size for file in (model, out / 'ours_fp16.onnx', out / 'ours_int8.onnx')]
    assert rows[0]['bytes'] > 1.9 * rows[1]['bytes'] > 2.5 * rows[2]['bytes']
    assert 1 == rows[0]['min_cosine'] > rows[1]['min_cosine'] > rows[2]['min_cosine'] > .9
    assert all(row['gate'] == 'passed' or row['gate'].startswith('refused: ') for row in rows[1:])
    assert all(np.isfinite(row['images_per_second'][batch]) for row in rows for batch in ('1', '16'))

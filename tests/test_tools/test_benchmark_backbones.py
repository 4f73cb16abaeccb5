"""The benchmark of the backbones runs, and its table is the one of the docs."""
import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ['SevenLayerNet', 'MobileFaceNet', 'EdgeFace-XXS']


@pytest.fixture(scope='module')
def benchmark():
    spec = importlib.util.spec_from_file_location('benchmark_backbones', ROOT / 'tools/analysis/benchmark_backbones.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_way_takes_its_turn_and_the_docs_have_the_same_sizes(benchmark, tmp_path, capsys):
    assert benchmark.main(['--only', *NAMES, '--rounds', '1', '--batch-size', '2', '--out', str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / 'table.md').read_text()
    results = json.loads((tmp_path / 'results.json').read_text())['results']
    assert list(results) == NAMES
    assert all(row[f'{kind} {way}'] > 0 for row in results.values() for kind in ('embedding', 'training') for way in benchmark.WAYS)
    documented = (ROOT / 'docs/backbones.md').read_text()
    for name in NAMES:
        sizes = re.search(rf'^\| {re.escape(name)} \| ([\d.]+) \| ([\d,]+) \|', printed, re.MULTILINE)[0]
        assert sizes in documented, f'docs/backbones.md has other sizes of {name} than {sizes}'


def test_the_multiply_adds_of_attention_are_counted(benchmark):
    backbone, neck, side = benchmark.NETWORKS['ViT-T, InsightFace']()
    # 1.5 thousand million in insightface recognition/arcface_torch/README.md
    assert benchmark.Contender(backbone, neck, side, 1, 1).multiply_adds == pytest.approx(1.5e9, rel=.03)


def test_every_network_of_the_table_is_in_the_docs(benchmark):
    documented = (ROOT / 'docs/backbones.md').read_text()
    assert all(f'| {name} |' in documented for name in benchmark.NETWORKS)


def test_a_training_batch_of_one_is_refused(benchmark, capsys):
    with pytest.raises(SystemExit) as error:
        benchmark.main(['--train-batch-size', '1'])
    assert error.value.code == 2 and 'from 2 to' in capsys.readouterr().err

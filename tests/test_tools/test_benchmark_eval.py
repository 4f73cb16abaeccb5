"""The benchmark of evaluation runs, and refuses to time what disagrees."""
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / 'tools/analysis/benchmark_eval.py'


@pytest.fixture(scope='module')
def benchmark():
    spec = importlib.util.spec_from_file_location('benchmark_eval', PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ten_folds_are_timed_beside_the_peer(benchmark, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(benchmark, 'WORKS', dict(ten_folds=lambda scale: benchmark.ten_folds(pairs=200)))
    assert benchmark.main(['--rounds', '1', '--threads', '1', '--out', str(tmp_path / 'new')]) == 0
    results = json.loads((tmp_path / 'new/results.json').read_text())['results']['ten folds, 200 pairs']
    assert [result['precision'] for result in results] == ['float32'] * 4 + ['float64'] * 3
    assert all(result['ms'] > 0 for result in results)
    assert '| accuracy by exact thresholds |' in capsys.readouterr().out


def test_the_peer_finds_what_the_protocol_finds(benchmark):
    work, = benchmark.ten_folds(pairs=200)
    peer, grid = (contestant.run() for contestant in (work.contestants[0], work.contestants[4]))
    assert work.contestants[4].precision == 'float64'
    assert 0.6 < peer[0] < 0.99
    np.testing.assert_allclose(grid, peer, rtol=0, atol=1e-12)
    with pytest.raises(AssertionError, match='the grid rule'):
        work.check([[0.5, 0.5], *[grid] * 6])


@pytest.mark.parametrize('name, scale', [('pooling', 0.005), ('scores', 0.005), ('roc', 0.05), ('search', 0.005)])
def test_every_way_of_a_work_agrees_with_the_peer(benchmark, name, scale):
    work, = benchmark.WORKS[name](scale)
    found = [contestant.run() for contestant in work.contestants]
    work.check(found)
    with pytest.raises(AssertionError):
        work.check([*found[:-1], np.roll(found[-1], 1, 0)])


def test_memory_is_what_a_run_adds(benchmark):
    held = []
    taken = benchmark.peak_memory(lambda: held.append(np.ones(2**23)))
    assert taken is None or 60 < taken < 80

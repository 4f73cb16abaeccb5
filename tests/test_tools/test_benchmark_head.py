"""The benchmark of the head runs, and measures what it says."""
import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / 'tools/analysis/benchmark_head.py'


@pytest.fixture(scope='module')
def benchmark():
    spec = importlib.util.spec_from_file_location('benchmark_head', PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_contestant_is_timed_and_its_memory_counted(benchmark):
    classes, batch, wide = 600, 4, 512
    data = benchmark.make_data(classes, batch, 'cpu')
    results = benchmark.measure(benchmark.everyone(data, ['ArcFace', 'own Elementwise']), data, rounds=1)
    assert {'ArcFace, store', 'own Elementwise, recompute', 'ArcFace, sampled 0.1', 'mmpretrain ArcFaceClsHead'} <= set(results)
    gradient = 4 * classes * wide / benchmark.MIB
    for name, result in results.items():
        assert result['ratio'] > 0 and result['peak'] >= result['idle'], name
    assert results['ArcFace, recompute']['idle'] == pytest.approx(gradient)
    assert gradient < results['ArcFace, recompute']['peak'] < 1.5 * gradient
    assert results['mmpretrain ArcFaceClsHead']['peak'] > 2 * gradient
    assert '| ArcFace, store |' in benchmark.table(classes, batch, results)

"""The benchmark of the head runs, and measures what it says."""
import importlib.util
import json
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / 'tools/analysis/benchmark_head.py'


@pytest.fixture(scope='module')
def benchmark():
    spec = importlib.util.spec_from_file_location('benchmark_head', PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_command_times_everyone_counts_their_memory_and_writes_the_tables(benchmark, tmp_path, capsys):
    classes, wide = 600, 512
    assert benchmark.main(['--setting', str(classes), '4', '--setting', '300', '16', '--rounds', '1', '--out', str(tmp_path)]) == 0
    text = (tmp_path / 'tables.md').read_text()
    assert text.strip() in capsys.readouterr().out.replace('\n\n\n', '\n\n')
    for part in ('1 rounds', 'OMP_WAIT_POLICY=', 'allocator', '**C=600, B=4, D=512**', '| head | ms |', '| compute_dtype | loss |',
                 '| SGD, momentum 0.9, decay 5e-4 | ms |', benchmark.cpu_model()):
        assert part in text, part
    results = json.loads((tmp_path / 'results.json').read_text())['results']['600x4']
    assert {f'{name}, {mode}' for name in benchmark.LOSSES for mode in ('store', 'recompute')} <= set(results)
    assert {'ArcFace, sampled 0.1', 'ArcFace, 3 sub-centres, store', 'mmpretrain ArcFaceClsHead'} <= set(results)
    gradient = 4 * classes * wide / benchmark.MIB
    for name, result in results.items():
        assert result['ratio'] > 0 and result['peak'] >= result['idle'], name
    assert results['ArcFace, recompute']['idle'] == pytest.approx(gradient)
    assert gradient < results['ArcFace, recompute']['peak'] < 1.5 * gradient
    assert results['mmpretrain ArcFaceClsHead']['peak'] > 2 * gradient


def test_sizes_are_swept_into_a_picture(benchmark, tmp_path):
    benchmark.scaling('cpu', 1, tmp_path / 'scaling.png', dict(C=[(100, 4), (200, 4)], B=[(100, 4), (100, 8)]))
    assert (tmp_path / 'scaling.png').stat().st_size > 10000

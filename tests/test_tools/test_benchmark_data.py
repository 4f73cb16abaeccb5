"""The benchmark of the data runs, and all contestants see the same images."""
import importlib.util
from pathlib import Path

import pytest
import torch

PATH = Path(__file__).parents[2] / 'tools/analysis/benchmark_data.py'


@pytest.fixture(scope='module')
def benchmark():
    spec = importlib.util.spec_from_file_location('benchmark_data', PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_contestant_is_timed_on_the_same_images(benchmark, tmp_path):
    count = benchmark.write_images(tmp_path, None, 16)
    assert count == 16
    batches = [[3, 0, 9, 4], [15, 8, 1, 2]]
    results = benchmark.one_process(tmp_path, batches, rounds=1)
    assert {'decoding alone', *benchmark.PIPELINES} < set(results)
    assert results['decoding alone']['fraction'] == 1
    assert all(row['us'] > 0 and row['fraction'] > 0 for row in results.values())
    ours = benchmark.ours(tmp_path, 'uint8 batch').__getitems__(batches[0])
    theirs = benchmark.openmmlab(tmp_path)
    for row, at in enumerate(batches[0]):
        item = theirs[at]
        image = item['inputs'].flip(0)  # BGR
        image = image.flip(2) if item['data_samples'].flip else image
        assert torch.equal(ours.inputs[row], image)
    speeds = benchmark.loaders(tmp_path, 4, images=8, rounds=1)
    assert all(speed > 0 for by_workers in speeds.values() for speed in by_workers.values())

"""The benchmark of the step runs, and both loops do the same work."""
import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / 'tools/analysis/benchmark_step.py'


@pytest.fixture(scope='module')
def benchmark():
    spec = importlib.util.spec_from_file_location('benchmark_step', PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_runner_and_bare_loop_take_turns_on_the_same_work(benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, 'PICTURES', 1)
    steps = []
    monkeypatch.setattr(benchmark.BareLoop, 'step', lambda self, batch, step=benchmark.BareLoop.step: steps.append(step(self, batch)))
    results = benchmark.overhead(tmp_path, batch=4, iterations=6, block=2)
    assert len(steps) == 6
    assert all(value > 0 for value in results.values())


def test_growth_is_measured_near_the_beginning_and_at_the_end(benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, 'BLOCK', 5)
    monkeypatch.setattr(benchmark, 'WINDOW', 2)
    monkeypatch.setattr(benchmark, 'MOMENTS', (10, 100))
    rows = benchmark.growth(tmp_path, 40)
    assert [row['iteration'] for row in rows] == [10, 30]
    assert all(row['ms'] > 0 and row['memory_mib'] > 0 for row in rows)

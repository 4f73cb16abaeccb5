"""The benchmark of the sharded head runs, and computes from what it measures what it says."""
import importlib
import json
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / 'tools/analysis/benchmark_sharding.py'


@pytest.fixture
def benchmark(monkeypatch):
    """The tool, importable by name: that is how the processes that it starts find what they run."""
    monkeypatch.syspath_prepend(str(PATH.parent))
    return importlib.import_module(PATH.stem)


@pytest.mark.slow
def test_one_command_measures_in_processes_of_their_own_and_writes_the_table(benchmark, tmp_path, capsys):
    assert benchmark.main(['--classes', '300', '--batch', '8', '--rounds', '3', '--out', str(tmp_path)]) == 0
    text = (tmp_path / 'sharding.md').read_text()
    assert text in capsys.readouterr().out
    for part in ('1 process, 300 classes', '2 processes, 600 classes', 'B = 8, D = 512, ArcFaceLoss', 'load', 'Share of the ceiling'):
        assert part in text, part
    found = json.loads((tmp_path / 'sharding.json').read_text())
    assert len(found['rounds']) == 3
    assert all(seconds > 0 for turn in found['rounds'] for seconds in turn.values())


def test_the_share_is_how_much_of_what_the_products_keep_the_step_keeps(benchmark):
    found = benchmark.summary(2 * [dict(step=1., steps=2., products=.8, all_products=1.)])
    assert found['efficiency'] == .5
    assert found['ceiling'] == pytest.approx(.8)
    assert found['share'] == pytest.approx(.625)
    assert found['steps_ms'] == 2000


def test_a_batch_that_cannot_be_divided_is_refused(benchmark, capsys):
    with pytest.raises(SystemExit):
        benchmark.main(['--batch', '9'])
    assert '--batch 9 cannot be divided by 2' in capsys.readouterr().err

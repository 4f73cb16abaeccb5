"""The benchmark of opening: its sets are what InsightFace writes, and its table says what was measured."""
import importlib.util
from itertools import pairwise
from pathlib import Path

import pytest

from mmface.datasets import open_records
from mmface.datasets.formats.recordio.stream import RecordIOStream, pack_record


@pytest.fixture(scope='module')
def tool():
    path = Path(__file__).resolve().parents[2] / 'tools/analysis/benchmark_records.py'
    spec = importlib.util.spec_from_file_location('benchmark_records', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_generated_set_has_the_bytes_that_the_writer_writes(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, '_BLOCK', 50)
    assert tool.write_records(tmp_path / 'train.rec', 123) == 123 + 6 + 1
    records = open_records(tmp_path)
    assert (len(records), records.num_classes, sorted(set(records.labels.tolist()))) == (123, 6, list(range(6)))
    with (tmp_path / 'a.rec').open('wb') as rec, (tmp_path / 'a.idx').open('wb') as idx:
        stream = RecordIOStream(rec, idx)
        for key, label in enumerate(records.labels.tolist(), 1):
            stream.write(key, pack_record(label, key, tool.picture()))
        ends = [0, *(at for at in range(1, 123) if records.labels[at] != records.labels[at - 1]), 123]
        stream.write_identities([(first + 1, end + 1) for first, end in pairwise(ends)], 124)
    for suffix in ('.idx', '.rec'):
        assert (tmp_path / f'train{suffix}').read_bytes() == (tmp_path / f'a{suffix}').read_bytes()


def test_the_table_has_a_line_a_step(tool):
    step = dict(seconds=1.234, cpu_seconds=.5, mib=12.6)
    result = dict(images=1000, lines=1050, steps={'index alone': step, 'first opening': step})
    assert tool.table([result]).splitlines()[2:] == [
        '| 1,000 | 1,050 | index alone | 1.23 | 0.50 | 13 |', '| 1,000 | 1,050 | first opening | 1.23 | 0.50 | 13 |']

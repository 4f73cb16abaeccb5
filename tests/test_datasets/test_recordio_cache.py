"""What is kept of a RecordIO set between runs: used when it is of this very set, and harmless in every other case."""
import json
import os
import pickle

import pytest

from mmface.datasets import open_records
from mmface.datasets.formats.recordio import reader as recordio
from mmface.datasets.formats.recordio.cache import _HEAD, identify, load_table
from mmface.datasets.formats.recordio.stream import pack_record
from mmface.datasets.formats.recordio.writer import RecordIOWriter

OLD = (10**9, 10**9)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of the cache, and not that of other tests."""
    monkeypatch.delenv('MMENGINE_HOME', raising=False)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return tmp_path / 'cache/mmengine/mmface/records'


@pytest.fixture
def make(tmp_path, jpeg):
    """``make(labels)``: a set that was written long ago, in a folder that nothing else is in."""

    def write(labels: list[int], age: tuple[int, int] = OLD):
        path = tmp_path / 'data/train.rec'
        path.parent.mkdir(exist_ok=True)
        with RecordIOWriter(path) as writer:
            for key, label in enumerate(labels, 1):
                writer.write(key, pack_record(label, key, jpeg(0)))
        for file in (path, path.with_suffix('.idx')):
            os.utime(file, age)
        return path

    return write


@pytest.fixture
def passes(monkeypatch):
    """The passes over all headers that were needed."""
    made = []
    read = recordio.read_table
    monkeypatch.setattr(recordio, 'read_table', lambda path, view: made.append(path) or read(path, view))
    return made


def test_the_second_opening_needs_no_pass_and_gives_the_same(cache, make, passes):
    path = make([3, 1, 1])
    first, second = open_records(path), open_records(path.parent)
    assert len(passes) == 1
    for name in ('labels', 'keys'):
        assert getattr(first, name).tolist() == getattr(second, name).tolist()
    assert [bytes(first.read(at)) for at in range(3)] == [bytes(second.read(at)) for at in range(3)]
    assert not second.labels.flags.writeable
    assert sorted(os.listdir(path.parent)) == ['train.idx', 'train.rec'], 'nothing is written beside the data'


@pytest.mark.parametrize('change', ['time', 'content', 'index'])
def test_a_changed_set_is_read_anew(cache, make, passes, change):
    path = make([0, 1, 1])
    open_records(path)
    if change == 'time':
        path = make([2, 0, 1], (10**9, 10**9 + 1))
    elif change == 'content':
        path = make([2, 0, 1, 1])
    else:
        path.with_suffix('.idx').unlink()
    expected = {'time': [2, 0, 1], 'content': [2, 0, 1, 1], 'index': [0, 1, 1]}[change]
    assert open_records(path).labels.tolist() == expected
    assert len(passes) == 2


@pytest.mark.parametrize('damage', [
    lambda data: data[:-1], lambda data: data + b'\0', lambda data: data[:_HEAD + 3] + b'\1' + data[_HEAD + 4:], lambda data: b'',
    lambda data: data[:2] + b'\xff' + data[3:], lambda data: b'[1, 2]'.ljust(_HEAD) + data[_HEAD:],
    lambda data: json.dumps(dict(json.loads(data[:_HEAD]), crc='x', rows=-1)).encode().ljust(_HEAD) + data[_HEAD:],
])
def test_a_damaged_entry_is_not_trusted_but_replaced(cache, make, passes, damage):
    path = make([5, 1, 1])
    open_records(path)
    entry, = cache.iterdir()
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    assert load_table(identify(path)) is None
    assert open_records(path).labels.tolist() == [5, 1, 1]
    assert entry.read_bytes() == good
    assert len(passes) == 2


def test_a_set_that_has_only_just_changed_is_not_kept(cache, make, passes, monkeypatch):
    monkeypatch.setattr('time.time_ns', lambda: 10**9 + 10**7)
    path = make([0, 1])
    assert [open_records(path).labels.tolist() for _ in range(2)] == [[0, 1]] * 2
    assert len(passes) == 2
    assert len(pickle.dumps(open_records(path))) < 5000


def test_without_a_place_for_it_everything_works_as_well(make, passes, tmp_path, monkeypatch):
    (tmp_path / 'file').write_text('')
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path / 'file'))
    path = make([4, 1])
    records = open_records(path)
    assert pickle.loads(pickle.dumps(records)).labels.tolist() == records.labels.tolist() == [4, 1]
    assert bytes(pickle.loads(pickle.dumps(records)).read(1)) == bytes(records.read(1))
    assert len(passes) == 1


def test_entries_of_sets_that_are_gone_are_removed(cache, make):
    path = make([0, 1])
    open_records(path)
    first, = cache.iterdir()
    moved = path.parent.rename(path.parent.with_name('moved')) / path.name
    open_records(moved)
    assert not first.exists()
    assert len(list(cache.iterdir())) == 1


def test_a_worker_whose_entry_has_vanished_reads_for_itself(cache, make):
    pickled = pickle.dumps(open_records(make([2, 7])))
    for entry in cache.iterdir():
        entry.unlink()
    assert pickle.loads(pickled).labels.tolist() == [2, 7]

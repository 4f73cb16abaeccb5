"""What a pass over a large set found is kept for the same files, and for no others."""
import os

import numpy as np
import pytest

from mmface.datasets import DataFormatError, open_records
from mmface.datasets.doctor import examine
from mmface.datasets.formats.common import column_cache
from mmface.datasets.formats.common.column_cache import cached_columns


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path / 'cache'))
    monkeypatch.setattr(column_cache, '_LEAST', 2)
    monkeypatch.setattr(column_cache, '_CLOCK_TICK', 0)


@pytest.fixture
def file(tmp_path):
    (tmp_path / 'set').write_text('abc')
    return tmp_path / 'set'


def counted(columns, calls):
    def build():
        calls.append(1)
        return columns
    return build


def entries(tmp_path):
    return sorted((tmp_path / 'cache').rglob('*.npz'))


def test_the_second_time_nothing_is_built_and_the_columns_are_equal(file):
    columns, calls = dict(labels=np.array([1., 2.5, np.nan]), starts=np.array([0, 3])), []
    for _ in range(3):
        found = cached_columns('x', [file], counted(columns, calls))
        for name, column in columns.items():
            np.testing.assert_array_equal(found[name], column)
            assert found[name].dtype == column.dtype
    assert len(calls) == 1


@pytest.mark.parametrize('change', ['content', 'time', 'purpose', 'path'])
def test_another_file_or_purpose_is_built_anew(file, change):
    calls = []
    cached_columns('x', [file], counted(dict(a=np.arange(3)), calls))
    status = file.stat()
    if change == 'content':
        file.write_text('abcd')
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    if change == 'time':
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    if change == 'path':
        file = file.rename(file.with_name('other'))
    cached_columns('y' if change == 'purpose' else 'x', [file], counted(dict(a=np.arange(3)), calls))
    assert len(calls) == 2


def test_a_damaged_entry_a_small_set_and_a_folder_nobody_may_write_to_do_no_harm(file, tmp_path):
    calls = []
    cached_columns('x', [file], counted(dict(a=np.arange(1)), calls))
    assert entries(tmp_path) == []
    cached_columns('x', [file], counted(dict(a=np.arange(300)), calls))
    (entry, ) = entries(tmp_path)
    data = bytearray(entry.read_bytes())
    data[len(data) // 2] ^= 1
    entry.write_bytes(data)
    assert cached_columns('x', [file], counted(dict(a=np.arange(300)), calls))['a'].tolist() == list(range(300))
    assert len(calls) == 3
    entry.unlink()
    entry.parent.rmdir()
    entry.parent.write_text('in the way')
    cached_columns('x', [file], counted(dict(a=np.arange(300)), calls))
    assert len(calls) == 4


def test_a_file_that_has_just_changed_is_not_trusted(file, tmp_path, monkeypatch):
    monkeypatch.setattr(column_cache, '_CLOCK_TICK', 1e12)
    cached_columns('x', [file], lambda: dict(a=np.arange(3)))
    assert entries(tmp_path) == []


def test_entries_of_files_that_are_gone_are_forgotten(file, tmp_path):
    cached_columns('x', [file], lambda: dict(a=np.arange(3)))
    file.unlink()
    (tmp_path / 'second').touch()
    cached_columns('x', [tmp_path / 'second'], lambda: dict(a=np.arange(3)))
    assert len(entries(tmp_path)) == 1


def test_an_error_is_not_kept(file, tmp_path):
    def refuse():
        raise DataFormatError(file, value='broken')

    for _ in range(2):
        with pytest.raises(DataFormatError):
            cached_columns('x', [file], refuse)
    assert entries(tmp_path) == []


@pytest.mark.parametrize('package, write', [('lmdb', 'lmdb.writer.write_lmdb'), ('webdataset', 'tar_shards.writer.write_shards')])
def test_sets_open_from_the_cache_and_the_doctor_does_not(small_rec, tmp_path, monkeypatch, package, write):
    pytest.importorskip(package)
    module, _, function = write.rpartition('.')
    writer = __import__(f'mmface.datasets.formats.{module}', fromlist=[function])
    source = open_records(small_rec)
    getattr(writer, function)(source, tmp_path / 'out')
    first = open_records(tmp_path / 'out')
    (entry, ) = entries(tmp_path)
    stamp = entry.stat().st_mtime_ns
    again = open_records(tmp_path / 'out')
    assert first.labels.tolist() == again.labels.tolist() == source.labels.tolist()
    assert [bytes(again.read(at)) for at in range(len(again))] == [bytes(source.read(at)) for at in range(len(source))]
    asked = []
    monkeypatch.setattr(column_cache, '_load', lambda *args: asked.append(args))
    assert examine(tmp_path / 'out').trainable
    assert asked == []
    assert entry.stat().st_mtime_ns == stamp

"""LMDB: what is written is read, by any process, and what is not as it should be is named by its key."""
import json
import multiprocessing
import os
import pickle
import struct

import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_records
from mmface.datasets.formats import RECORDS
from mmface.datasets.formats.lmdb import file as lmdb_file
from mmface.datasets.formats.lmdb.writer import write_lmdb
from mmface.datasets.formats.recordio.stream import pack_record

lmdb = pytest.importorskip('lmdb', reason='these sets are read and made with lmdb')


def images(records) -> list[bytes]:
    return [bytes(records.read(at)) for at in range(len(records))]


@pytest.fixture
def make(tmp_path):
    """``make({key: value}, subdir=True)``: an LMDB with these pairs."""

    def write(values: dict[bytes, bytes], subdir: bool = True):
        path = tmp_path / 'set.lmdb'
        environment = lmdb.open(str(path), map_size=1 << 24, subdir=subdir)
        with environment.begin(write=True) as transaction:
            for key, value in values.items():
                transaction.put(key, value)
        environment.close()
        return path

    return write


@pytest.fixture
def two(jpeg) -> dict[bytes, bytes]:
    """Two records and what is known of them."""
    return {b'000000000': pack_record(1, 0, jpeg(0)), b'000000001': pack_record([0, 1], 1, jpeg(1)),
            b'__meta__': json.dumps(dict(num_images=2, num_classes=3, classes=dict(ada=0, bob=1, eve=2))).encode()}


@pytest.mark.parametrize('subdir', [True, False])
def test_records_are_those_of_a_rec_under_ordinals_of_nine_digits(make, two, jpeg, subdir):
    path = make(two, subdir)
    assert [name for name, reader in RECORDS.readers.items() if reader.sniff(path)] == ['lmdb']
    records = open_records(path)
    assert records.labels.tolist() == [1, 0]
    assert images(records) == [jpeg(0), jpeg(1)]
    assert (records.num_classes, records.classes) == (3, dict(ada=0, bob=1, eve=2))
    assert records.where(1) == 'key 000000001'


def test_ordinals_may_count_from_one_and_without_meta_classes_are_counted(make, jpeg):
    with pytest.warns(DataFormatWarning, match='no key __meta__: images and classes are counted'):
        records = open_records(make({b'000000001': pack_record(4, 1, jpeg(0))}))
    assert (records.num_classes, records.where(0)) == (5, 'key 000000001')


def test_a_converted_set_gives_the_same_images_labels_and_classes(small_rec, tmp_path):
    source = open_records(small_rec)
    write_lmdb(source, tmp_path / 'out')
    assert sorted(os.listdir(tmp_path / 'out')) == ['data.mdb']
    records = open_records(tmp_path / 'out')
    assert images(records) == images(source)
    assert records.labels.tolist() == source.labels.tolist()
    assert records.num_classes == source.num_classes
    with pytest.raises(FileExistsError, match='out exists already'):
        write_lmdb(source, tmp_path / 'out')


def reads_through_its_own_handle(records) -> bool:
    records.read(0)
    status = (records.path / 'data.mdb').stat()
    return lmdb_file._OPEN[status.st_dev, status.st_ino][0] == os.getpid()


class Interrupted(Exception):
    pass


def test_an_interrupted_conversion_leaves_nothing_under_its_name_and_is_resumed(small_rec, tmp_path, monkeypatch):
    monkeypatch.setattr('mmface.datasets.formats.writing.conversion._TASK', 2)
    source, read = open_records(small_rec), []
    original = source.read

    def failing(at: int):
        read.append(at)
        if read.count(7) == 1 and at == 7:
            raise Interrupted
        return original(at)

    monkeypatch.setattr(source, 'read', failing)
    with pytest.raises(Interrupted):
        write_lmdb(source, tmp_path / 'out', workers=1, interval=2)
    assert os.listdir(tmp_path) == ['.out.partial']
    done = len(read)
    write_lmdb(source, tmp_path / 'out', workers=1, interval=2)
    assert read[done] in range(2, 8), 'what was safe is not done again'
    assert images(open_records(tmp_path / 'out')) == images(open_records(small_rec))
    assert os.listdir(tmp_path) == ['out']


def test_skipped_images_leave_no_gap_in_the_keys(tree, tmp_path):
    folder = tree('ada/1.jpg', 'ada/2.jpg', 'bob/1.jpg')
    (folder / 'ada/2.jpg').write_bytes(b'<html>')
    assert write_lmdb(open_records(folder), tmp_path / 'out', max_skipped=.5) == 1
    records = open_records(tmp_path / 'out')
    assert records.labels.tolist() == [0, 1]
    assert records.classes == {'ada': 0, 'bob': 1}
    assert 'ada/2.jpg' in (tmp_path / 'out/skipped.tsv').read_text()


def test_what_another_source_left_is_not_built_upon(small_rec, tree, tmp_path):
    (tmp_path / '.out.partial').mkdir()
    (tmp_path / '.out.partial/source.json').write_text('{}')
    (tmp_path / '.out.partial/data.mdb').write_bytes(b'something else')
    write_lmdb(open_records(small_rec), tmp_path / 'out')
    assert images(open_records(tmp_path / 'out')) == images(open_records(small_rec))


@pytest.mark.parametrize('change, fact', [
    ({b'000000001': pickle.dumps({'image': b'x'})}, 'key 000000001: a pickled value: nothing is unpickled'),
    ({b'000000001': b'\xff\xd8\xff\xe0' + b'0' * 40}, 'key 000000001: an image without header'),
    ({b'000000001': b'0123456789'}, 'key 000000001: 10 bytes: expected an IRHeader of 24 bytes'),
    ({b'000000001': struct.pack('<IfQQ', 1000, 0, 0, 0)}, 'key 000000001: claims 1000 labels, 0 bytes left'),
    ({b'000000001': pack_record(2.5, 1)}, 'key 000000001: label 2.5 is no class number'),
    ({b'000000001': pack_record(float('nan'), 1)}, 'key 000000001: label nan is no class number'),
    ({b'000000003': pack_record(0, 3)}, 'key 000000003: where 000000002 was expected'),
    ({b'2': pack_record(0, 3)}, 'key 2: where 000000002 was expected'),
    ({b'__keys__': pickle.dumps([b'0'])}, 'key __keys__: where 000000002 was expected'),
    ({b'__meta__': b'{'}, 'key __meta__: JSON error'),
    ({b'__meta__': b'[1]'}, 'key __meta__: [1]: expected an object'),
    ({b'__meta__': b'{"classes": ["ada"]}'}, "key __meta__: {'classes': ['ada']}: expected an object"),
    ({b'__meta__': b'{"num_images": 3}'}, 'key __meta__: num_images 3: there are 2'),
    ({b'__meta__': b'{"num_classes": 1}'}, 'key 000000000: label 1: __meta__ says num_classes 1'),
])
def test_what_is_no_record_is_refused_with_its_key(make, two, change, fact):
    with pytest.raises(DataFormatError) as raised:
        open_records(make(two | change))
    assert fact in str(raised.value)
    assert 'set.lmdb' in str(raised.value)


def test_an_empty_file_of_records_is_refused(make):
    with pytest.raises(DataFormatError, match='no record'):
        open_records(make({b'__meta__': b'{}'}))


def test_a_file_cut_short_is_refused_before_its_map_is_touched(make, two):
    path = make(two)
    data = (path / 'data.mdb').read_bytes()
    (path / 'data.mdb').write_bytes(data[:-4096])
    with pytest.raises(DataFormatError, match=rf'data\.mdb: needs {len(data)} bytes, file has {len(data) - 4096}: it is cut short'):
        open_records(path)
    (path / 'data.mdb').write_bytes(data[:4096])
    with pytest.raises(DataFormatError, match=r'data\.mdb: .*MDB_INVALID'):
        open_records(path)


def test_a_set_nobody_may_write_to_is_opened_twice_pickled_and_read_in_forked_processes(make, two, jpeg):
    path = make(two)
    for file in path.iterdir():
        file.chmod(0o400)
    (path / 'lock.mdb').unlink()
    path.chmod(0o500)
    records, again = open_records(path), open_records(path)
    expected = [jpeg(0), jpeg(1)]
    assert images(records) == images(again) == images(pickle.loads(pickle.dumps(records))) == expected
    with multiprocessing.get_context('fork').Pool(2) as pool:
        assert pool.map(images, [records] * 4) == [expected] * 4
        assert all(pool.map(reads_through_its_own_handle, [records] * 4))
    assert images(records) == expected, 'the parent goes on after its children closed theirs'
    assert os.listdir(path) == ['data.mdb']
    path.chmod(0o700)

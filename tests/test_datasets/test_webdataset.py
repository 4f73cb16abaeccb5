"""Tar shards: read as the webdataset library reads them, in any order, and what is wrong is named by shard and member."""
import io
import multiprocessing
import os
import pickle
import tarfile

import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_records
from mmface.datasets.formats import RECORDS
from mmface.datasets.formats.tar_shards.writer import _ShardStream, write_shards

wds = pytest.importorskip('webdataset', reason='these sets are read and made with webdataset')


def images(records) -> list[bytes]:
    return [bytes(records.read(at)) for at in range(len(records))]


@pytest.fixture
def shards(tmp_path, jpeg):
    """Three shards of seven samples by the library's own writer."""
    with wds.ShardWriter(str(tmp_path / 'faces-%06d.tar'), maxcount=3, verbose=0) as writer:
        for at in range(7):
            writer.write({'__key__': f'{at:04d}', 'jpg': jpeg(at), **({'cls': at % 3} if at % 2 else {'json': {'label': at % 3}})})
    return tmp_path


@pytest.fixture
def make(tmp_path):
    """``make({member: content})``: a tar, closed as it should be unless ``whole=False``."""

    def write(members: dict[str, bytes], whole: bool = True):
        path = tmp_path / 'set.tar'
        with tarfile.open(path, 'w', format=tarfile.GNU_FORMAT) as archive:
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            end = archive.offset
        if not whole:
            path.write_bytes(path.read_bytes()[:end])
        return path

    return write


def test_samples_are_those_that_the_library_reads(shards):
    records = open_records(shards)
    expected = list(wds.WebDataset(str(shards / 'faces-{000000..000002}.tar'), shardshuffle=False))
    assert images(records) == [sample['jpg'] for sample in expected]
    assert records.labels.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert (records.num_classes, records.classes) == (3, None)
    assert [bytes(records.read(at)) for at in (6, 0, 3)] == [expected[at]['jpg'] for at in (6, 0, 3)]
    assert records.where(4) == 'faces-000001.tar 0004.jpg'


def test_a_file_and_a_pattern_are_opened_too(shards):
    assert [name for name, reader in RECORDS.readers.items() if reader.sniff(shards)] == ['webdataset']
    assert len(open_records(shards / 'faces-000002.tar')) == 1
    assert len(open_records(str(shards / 'faces-{000001..000002}.tar'))) == 4
    with pytest.raises(DataFormatError, match=r'2 of 4 shards missing: faces-000003\.tar, faces-000004\.tar'):
        open_records(str(shards / 'faces-{000001..000004}.tar'))


def test_a_missing_shard_in_a_folder_is_warned_of(shards):
    (shards / 'faces-000001.tar').unlink()
    with pytest.warns(DataFormatWarning, match='2 shards up to number 2: 1 numbers are missing, the first is 1'):
        assert len(open_records(shards)) == 4


def test_several_processes_find_what_one_does(shards, monkeypatch):
    alone = open_records(shards)
    monkeypatch.setattr('mmface.datasets.formats.tar_shards.records._MANY_SHARDS', 2)
    together = open_records(shards)
    assert together.labels.tolist() == alone.labels.tolist()
    assert images(together) == images(alone)
    (shards / 'faces-000001.tar').write_bytes(b'x' * 2000)
    with pytest.raises(DataFormatError, match=r'faces-000001\.tar: .*expected an uncompressed tar'):
        open_records(shards)


def test_readers_give_the_same_after_pickling_and_in_forked_processes(shards):
    records = open_records(shards)
    expected = images(records)
    assert images(pickle.loads(pickle.dumps(records))) == expected
    with multiprocessing.get_context('fork').Pool(2) as pool:
        assert pool.map(images, [records] * 4) == [expected] * 4


def test_names_longer_than_a_header_and_what_the_library_passes_over_do_no_harm(make, jpeg):
    long = 'folder/' * 30 + '000'
    passed_over = {'__meta__/a.jpg': b'x', '._000.jpg': b'x', 'readme': b'x'}
    records = open_records(make({**passed_over, f'{long}.JPG': jpeg(0), f'{long}.cls': b' 4\n'}))
    assert images(records) == [jpeg(0)]
    assert records.labels.tolist() == [4]


@pytest.mark.parametrize('members, fact', [
    ({'a.jpg': b'x', 'a.pyd': b'x'}, 'a.pyd: a pickled member: nothing is unpickled'),
    ({'a.jpg': b'x', 'a.meta.pickle': b'x'}, 'a.meta.pickle: a pickled member'),
    ({'a.pth': b'x'}, 'a.pth: a pickled member'),
    ({'a.jpg': b'x'}, 'a.jpg: no label: it has jpg; expected .cls or .json'),
    ({'a.cls': b'1', 'b.jpg': b'x'}, 'a.cls: 0 images in this sample'),
    ({'a.jpg': b'x', 'a.png': b'x', 'a.cls': b'1'}, 'a.jpg: 2 images in this sample'),
    ({'a.jpg': b'x', 'a.JPG': b'x', 'a.cls': b'1'}, 'a.JPG: twice'),
    ({'a.jpg': b'x', 'a.cls': b'one'}, "a.cls: b'one': expected a whole number"),
    ({'a.jpg': b'x', 'a.cls': b'-1'}, 'set.tar a.jpg: label -1 is no class number'),
    ({'a.jpg': b'x', 'a.json': b'{'}, 'a.json: JSON error'),
    ({'a.jpg': b'x', 'a.json': b'{"id": 1}'}, 'a.json: no key label: found: id'),
    ({'a.jpg': b'x', 'a.json': b'{"label": "ada"}'}, "a.json: label 'ada': expected a whole number"),
    ({'a.jpg': b'x', 'a.json': b'{"label": true}'}, 'a.json: label True: expected a whole number'),
    ({'a.jpg': b'x', 'a.json': b'{"label": 1.5}'}, 'set.tar a.jpg: label 1.5 is no class number'),
    ({'a.jpg': b'x', 'a.json': b'[' * 100000}, 'a.json: JSON error'),
    ({'readme': b'x'}, 'no sample: expected KEY.jpg'),
])
def test_samples_that_are_not_whole_are_refused_with_their_member(make, members, fact):
    with pytest.raises(DataFormatError) as raised:
        open_records(make(members))
    assert fact in str(raised.value)
    assert 'set.tar' in str(raised.value)


def test_a_link_is_refused(tmp_path, jpeg):
    with tarfile.open(tmp_path / 'set.tar', 'w') as archive:
        member = tarfile.TarInfo('a.jpg')
        member.type, member.linkname = tarfile.SYMTYPE, '/etc/passwd'
        archive.addfile(member)
    with pytest.raises(DataFormatError, match=r'a\.jpg: a link or device: expected regular files'):
        open_records(tmp_path / 'set.tar')


@pytest.mark.parametrize('keep', [700, 1100, 2100, 2700])
def test_a_tar_cut_short_is_refused(make, keep):
    path = make({'a.jpg': b'x' * 600, 'a.cls': b'1', 'b.jpg': b'x' * 600, 'b.cls': b'1'})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataFormatError, match=r'set\.tar: '):
        open_records(path)


def test_a_tar_without_its_end_is_read_with_a_warning(make, jpeg):
    with pytest.warns(DataFormatWarning, match='no end-of-archive mark'):
        assert len(open_records(make({'a.jpg': jpeg(0), 'a.cls': b'1'}, whole=False))) == 1


def test_a_compressed_tar_is_refused(tmp_path):
    with tarfile.open(tmp_path / 'set.tar', 'w:gz') as archive:
        archive.addfile(tarfile.TarInfo('a.jpg'))
    with pytest.raises(DataFormatError, match='expected an uncompressed tar'):
        open_records(tmp_path / 'set.tar')


def test_a_converted_set_is_what_the_library_and_we_read(tree, tmp_path):
    source = open_records(tree('ada/1.jpg', 'ada/2.jpg', 'bob/1.jpg'))
    write_shards(source, tmp_path / 'out', shard_size=2)
    assert sorted(os.listdir(tmp_path / 'out')) == ['classes.tsv', 'train-000000.tar', 'train-000001.tar']
    assert (tmp_path / 'out/classes.tsv').read_text() == '0\tada\n1\tbob\n'
    records = open_records(tmp_path / 'out')
    samples = list(wds.WebDataset(str(tmp_path / 'out/train-{000000..000001}.tar'), shardshuffle=False).decode())
    assert images(records) == images(source)
    assert records.labels.tolist() == source.labels.tolist() == [sample['cls'] for sample in samples]
    assert records.classes == source.classes == {'ada': 0, 'bob': 1}


def write_and_be_killed(source, out, image: int) -> None:
    original = source.read
    source.read = lambda at: os._exit(9) if at == image else original(at)
    write_shards(source, out, shard_size=4, workers=1, interval=2)


@pytest.mark.parametrize('image', [7, 10])
def test_a_killed_conversion_leaves_nothing_under_its_name_and_is_resumed(small_rec, tmp_path, monkeypatch, image):
    monkeypatch.setattr('mmface.datasets.formats.writing.conversion._TASK', 1)
    source, read = open_records(small_rec), []
    process = multiprocessing.get_context('fork').Process(target=write_and_be_killed, args=(source, tmp_path / 'out', image))
    process.start()
    process.join()
    assert process.exitcode == 9
    assert os.listdir(tmp_path) == ['.out.partial']
    original = source.read
    monkeypatch.setattr(source, 'read', lambda at: read.append(at) or original(at))
    write_shards(source, tmp_path / 'out', shard_size=4, workers=1, interval=2)
    write_shards(open_records(small_rec), tmp_path / 'at_once', shard_size=4)
    for shard in sorted((tmp_path / 'at_once').iterdir()):
        assert (tmp_path / 'out' / shard.name).read_bytes() == shard.read_bytes()
    assert images(open_records(tmp_path / 'out')) == images(open_records(small_rec))
    assert min(read) in range(1, image + 1), 'what was safe is not done again'


@pytest.mark.parametrize('safe', range(10))
def test_a_stream_goes_on_from_any_place_even_between_two_shards(tmp_path, safe):
    samples = [(f'{at:03d}', 'jpg', b'x' * (at + 1), at) for at in range(10)]

    def write(folder, first: int, last: int, *begin: int):
        folder.mkdir(exist_ok=True)
        stream = _ShardStream(folder / 's', 4, *begin)
        for sample in samples[first:last]:
            stream.write(sample)
        return stream

    write(tmp_path / 'at_once', 0, 10, 0, 0).close()
    kept = write(tmp_path / 'in_two', 0, safe, 0, 0).sync()  # and killed
    write(tmp_path / 'in_two', safe, 10, *kept).close()
    assert {file.name: file.read_bytes() for file in (tmp_path / 'in_two').iterdir()} == {
        file.name: file.read_bytes() for file in (tmp_path / 'at_once').iterdir()}

"""RecordIO: what others wrote is read as they meant it, and damage is named."""
import hashlib
import json
import mmap
import multiprocessing
import pickle
import shutil
import struct
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, FaceDataset, open_records
from mmface.datasets.formats.common import class_sizes
from mmface.datasets.formats.errors import collect_faults
from mmface.datasets.formats.recordio import index as recordio_index
from mmface.datasets.formats.recordio import survey as recordio_survey
from mmface.datasets.formats.recordio.frames import scan
from mmface.datasets.formats.recordio.index import read_index
from mmface.datasets.formats.recordio.stream import pack_record
from mmface.datasets.formats.recordio.writer import RecordIOWriter

VARIANTS = ['face2rec2', 'float32_header', 'im2rec', 'insightface', 'label_gaps', 'multipart', 'shuffled_no_idx']

DAMAGE = {  # a set of the fixtures -> the facts that must be named
    'duplicate_key': ['train.idx', 'line 7', 'key 2'],
    'empty_idx': ['train.idx', 'no entry'],
    'empty_rec': ['train.rec', 'empty'],
    'foreign_idx': ['train.rec', 'record 2', 'no record magic at offset 40', 'index of another file?'],
    'huge_flag': ['train.rec', 'record 1', 'claims 1000000 labels, 16 bytes left'],
    'label_fraction': ['train.rec', 'record 1', 'label 2.5'],
    'label_nan': ['train.rec', 'record 1', 'label nan'],
    'label_negative': ['train.rec', 'record 1', 'label -1'],
    'length_too_long': ['train.rec', 'record 2', 'claims 536870908 bytes'],
    'offset_negative': ['train.idx', 'line 3', 'negative offset'],
    'offset_past_eof': ['train.idx', 'line 3', 'offset 99999999 beyond train.rec'],
    'part_flag_7': ['train.rec', 'part flag 7 at offset 0'],
    'part_open_at_eof': ['train.rec', 'record 1', 'not closed before the end'],
    'part_starts_in_middle': ['train.rec', 'offset 0 is a continuation part (flag 2)'],
    'property_garbage': ['property', 'expected "classes,height,width"'],
    'property_too_few_classes': ['property says 1 class, labels reach 1'],
    'truncated_frame': ['train.rec', 'incomplete frame at offset 3136'],
    'truncated_payload': ['train.rec', 'record 3', 'at offset 2032', 'ends beyond the file'],
}


def digests(records) -> list[str]:
    return [hashlib.sha256(records.read(at)).hexdigest() for at in range(len(records))]


@pytest.fixture(scope='session')
def rec(shared):
    return shared / 'reference/fixtures/rec'


@pytest.fixture(scope='session')
def expected(rec):
    return json.loads((rec / 'expected.json').read_text())


@pytest.fixture
def write(tmp_path):
    """``write({key: record, ...})`` with records as they stand in the file."""

    def make(records: dict[int, bytes], property: str | None = None):
        path = tmp_path / 'set.rec'
        with RecordIOWriter(path) as writer:
            for key, record in records.items():
                writer.write(key, record)
        if property is not None:
            path.with_name('property').write_text(property)
        return path

    return make


@pytest.mark.parametrize('variant', VARIANTS)
def test_every_variant_gives_the_images_and_labels_that_mxnet_reads(rec, expected, variant):
    records = open_records(rec / variant / 'train.rec')
    images = sorted(expected[variant]['images'], key=lambda image: image['key'])
    assert records.keys.tolist() == [image['key'] for image in images]
    assert records.labels.tolist() == [image['label'] for image in images]
    assert records.labels.dtype == np.int64
    assert digests(records) == [image['sha256'] for image in images]
    assert records.num_classes == expected[variant].get('num_classes', expected[variant].get('property_classes'))


@pytest.mark.parametrize('variant', sorted(set(VARIANTS) - {'shuffled_no_idx', 'im2rec'}))
def test_a_lost_index_is_rebuilt_from_the_records(rec, tmp_path, variant):
    shutil.copy(rec / variant / 'train.rec', tmp_path)
    rebuilt, indexed = open_records(tmp_path / 'train.rec'), open_records(rec / variant)
    assert rebuilt.keys.tolist() == indexed.keys.tolist()
    assert rebuilt.labels.tolist() == indexed.labels.tolist()
    assert digests(rebuilt) == digests(indexed)
    assert not (tmp_path / 'train.idx').exists()


@pytest.mark.parametrize('cut', [4, 1000, 3000])
def test_a_file_cut_short_is_refused_without_index_too(small_rec, tmp_path, cut):
    (tmp_path / 'train.rec').write_bytes(small_rec.read_bytes()[:-cut])
    with pytest.raises(DataFormatError, match=r'record \d+: (at offset .* ends beyond the file|incomplete frame)'):
        open_records(tmp_path / 'train.rec')


def test_records_whose_ids_repeat_are_numbered_in_file_order(write, jpeg):
    path = write({5: pack_record(0, 7, jpeg(0)), 3: pack_record(1, 7, jpeg(1))})
    keys, offsets = scan(path, memoryview(path.read_bytes()))
    assert keys.tolist() == [0, 1]
    assert offsets.tolist() == sorted(read_index(path.with_suffix('.idx'))[1])


@pytest.mark.parametrize('name', DAMAGE)
def test_damage_is_refused_with_the_facts(shared, name):
    with pytest.raises(DataFormatError) as raised:
        open_records(shared / f'reference/fixtures/adversarial/rec/{name}/train.rec')
    assert [fact for fact in DAMAGE[name] if fact not in str(raised.value)] == []


@pytest.mark.parametrize('name', ['blank_and_crlf', 'space_separated', 'missing_idx', 'header_wrong_range'])
def test_what_is_only_untidy_is_read(shared, name):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DataFormatWarning)
        records = open_records(shared / f'reference/fixtures/adversarial/rec/{name}/train.rec')
    assert records.keys.tolist() == [1, 2, 3]


def test_a_file_without_header_and_without_key_zero_is_read(shared):
    assert open_records(shared / 'reference/fixtures/adversarial/rec/no_header_no_zero').keys.tolist() == [5]


def test_a_header_that_contradicts_the_index_is_a_warning(shared):
    with pytest.warns(DataFormatWarning, match=r'header record says images 1\.\.39, index has 1\.\.3'):
        open_records(shared / 'reference/fixtures/adversarial/rec/header_wrong_range/train.rec')


def test_a_header_that_float32_rounded_is_not_worth_a_warning(rec):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert len(open_records(rec / 'float32_header')) == 6


@pytest.mark.parametrize('second, fact', [
    (struct.pack('<II', 0xced7230a, 8) + b'\0' * 8, 'part flag 0 at offset 8 inside the record begun at 0'),
    (struct.pack('<II', 0xced7230a, 1 << 29 | 8) + b'\0' * 8, 'part flag 1 at offset 8 inside the record begun at 0'),
])
def test_a_record_that_another_interrupts_is_refused(tmp_path, second, fact):
    (tmp_path / 'a.rec').write_bytes(struct.pack('<II', 0xced7230a, 1 << 29) + second)
    (tmp_path / 'a.idx').write_text('1\t0\n')
    with pytest.raises(DataFormatError, match=fact):
        open_records(tmp_path / 'a.rec')


def test_a_record_that_runs_into_the_next_is_refused(write, jpeg):
    path = write({1: pack_record(0, 1, jpeg(0)), 2: pack_record(0, 2, jpeg(1))})
    data = bytearray(path.read_bytes())
    data[4:8] = struct.pack('<I', struct.unpack('<I', data[4:8])[0] + 8)
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match=r'record 1: runs from offset 0 to .*, into record 2'):
        open_records(path)


@pytest.mark.parametrize('index, fact', [
    ('1\t0\nnonsense\n', "line 2: 'nonsense'"),
    ('1\t0\n2 4 8\n', "line 2: '2 4 8'"),
    ('1\t0\n2\n3 4 8\n', "line 2: '2'"),
    ('1\t0\n\n2\t18446744073709551615\n', 'line 3: offset 18446744073709551615 beyond any file: written with a 32-bit tell'),
    ('1\t2\n', 'record 1: offset 2 is no multiple of 4'),
    ('1\t4\n', 'record 1: no record magic at offset 4'),
])
def test_a_broken_index_is_refused_with_its_line(write, jpeg, index, fact):
    path = write({1: pack_record(0, 1, jpeg(0))})
    path.with_suffix('.idx').write_text(index)
    with pytest.raises(DataFormatError) as raised:
        open_records(path)
    assert fact in str(raised.value)


def test_a_record_too_short_for_its_header_is_refused(write):
    with pytest.raises(DataFormatError, match='record 4: 10 bytes at offset 0: the header alone needs 24'):
        open_records(write({4: b'0123456789'}))


def test_a_set_of_identity_records_only_is_refused(write):
    with pytest.raises(DataFormatError, match='no image record among 2'):
        open_records(write({0: pack_record([1, 2], 0), 1: pack_record([1, 1], 1)}))


def test_float64_labels_of_a_private_fork_are_refused(write, jpeg):
    record = struct.pack('<IdQQ', 0, 3., 1, 0) + jpeg(0)
    with pytest.raises(DataFormatError, match='float64'):
        open_records(write({1: record}))


def test_an_error_keeps_its_parts_and_survives_pickling():
    error = pickle.loads(pickle.dumps(DataFormatError('a.rec', 'record 1', 'label 2.5', 'expected whole numbers')))
    assert (error.path, error.where, error.value, error.hint) == ('a.rec', 'record 1', 'label 2.5', 'expected whole numbers')
    assert str(error) == 'a.rec: record 1: label 2.5: expected whole numbers'
    assert isinstance(error, ValueError)


@pytest.mark.parametrize('label', [1, [1]])
def test_an_image_without_bytes_still_counts_as_one(write, jpeg, label):
    records = open_records(write({1: pack_record(0, 1, jpeg(0)), 2: pack_record(label, 2)}))
    assert len(records) == 2
    assert bytes(records.read(1)) == b''


def test_the_image_of_a_whole_record_is_not_copied(small_rec):
    first = open_records(small_rec).read(0)
    assert isinstance(first, memoryview)
    assert first.readonly


@pytest.mark.parametrize('labels', ['stored', 'rank'])
def test_readers_give_the_same_after_pickling_and_in_a_forked_process(rec, labels):
    records = open_records(rec / 'label_gaps', labels=labels)
    again = pickle.loads(pickle.dumps(records))
    assert digests(again) == digests(records)
    assert again.labels.tolist() == records.labels.tolist()
    assert (again.classes, again.num_classes, again.keys.tolist()) == (records.classes, records.num_classes, records.keys.tolist())
    assert len(pickle.dumps(records)) < 2000, 'neither the file nor its table may travel with the reader'
    with multiprocessing.get_context('fork').Pool(2) as pool:
        assert pool.map(digests, [records] * 4) == [digests(records)] * 4


def test_a_folder_with_two_recs_is_refused(small_rec, tmp_path):
    for name in ('a.rec', 'b.rec'):
        shutil.copy(small_rec, tmp_path / name)
    with pytest.raises(DataFormatError, match=r'2 \.rec files: name one: a\.rec, b\.rec'):
        open_records(tmp_path)


def test_gaps_are_closed_on_request_and_the_mapping_is_told(rec, expected):
    records = open_records(rec / 'label_gaps', labels='rank')
    remap = expected['label_gaps']['contiguous_remap']
    images = sorted(expected['label_gaps']['images'], key=lambda image: image['key'])
    assert records.labels.tolist() == [remap[str(image['label'])] for image in images]
    assert (records.classes, records.num_classes) == (remap, 3)


def test_gaps_and_single_images_are_counted_in_the_log(rec, monkeypatch):
    said = []
    monkeypatch.setattr(class_sizes, 'print_log', lambda text, logger: said.append(text))
    open_records(rec / 'label_gaps')
    assert [text.partition(': ')[2] for text in said] == [
        'of 8 classes 5 have no image (labels="rank" closes such gaps), 1 have a single one']


def test_classes_are_named_by_a_list_beside_the_records(write, jpeg):
    path = write({1: pack_record(2, 1, jpeg(0)), 2: pack_record(0, 2, jpeg(1))}, property='3,112,112')
    names = path.with_name('classes.tsv')
    names.write_text('0\tAda\t7\n1\tBob\n2\tZoë Ångström\n')
    assert open_records(path).classes == {'Ada': 0, 'Bob': 1, 'Zoë Ångström': 2}
    assert open_records(path, labels='rank').classes == {'Ada': 0, 'Zoë Ångström': 1}
    names.write_text('class number\n')
    with pytest.warns(DataFormatWarning, match=r"classes\.tsv: line 1: 'class number': expected"):
        assert open_records(path).classes is None


def test_an_unknown_choice_of_labels_is_refused(small_rec):
    with pytest.raises(ValueError, match="labels='text': expected 'stored' or 'rank'"):
        open_records(small_rec, labels='text')


@pytest.mark.parametrize('label, property, facts', [
    (7, '2,112,112', ['record 1', 'label 7', 'property says 2 classes']),
    (3e7, None, ['record 1', 'label 30000000', 'only up to 16777216']),
    (float('inf'), None, ['record 1', 'label inf']),
])
def test_a_label_that_is_no_class_of_the_set_is_refused(write, jpeg, label, property, facts):
    with pytest.raises(DataFormatError) as raised:
        open_records(write({1: pack_record(label, 1, jpeg(0))}, property))
    assert [fact for fact in facts if fact not in str(raised.value)] == []


def test_an_index_without_its_records_says_which_are_missing(tmp_path):
    (tmp_path / 'train.idx').write_text('1\t0\n')
    with pytest.raises(DataFormatError, match=r'train\.rec: no such file: expected the records that train\.idx'):
        open_records(tmp_path)


def test_a_file_that_is_no_multiple_of_four_was_not_copied_whole(write, jpeg):
    path = write({1: pack_record(0, 1, jpeg(0)), 2: pack_record(0, 2, jpeg(1))})
    path.with_suffix('.idx').write_text('1\t0\n')
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(DataFormatError, match='bytes: a whole file has a multiple of 4'):
        open_records(path)


@pytest.mark.parametrize('content, fact', [
    (b'version https://git-lfs.github.com/spec/v1\noid sha256:0\n', 'a Git LFS pointer'),
    (b'\n<!DOCTYPE html><html>Quota exceeded', 'a web page, not the file'),
])
def test_what_a_failed_download_leaves_is_recognised(tmp_path, content, fact):
    (tmp_path / 'train.rec').write_bytes(content)
    with pytest.raises(DataFormatError, match=fact):
        open_records(tmp_path)


@pytest.mark.parametrize('image, fact', [
    (b'', 'record 1: empty file, no image bytes'),
    (b'<html>quota exceeded</html>', 'record 1: not an image'),
    (None, 'record 1: JPEG that cannot be decoded'),
])
def test_a_broken_image_is_refused_when_it_is_read(write, jpeg, image, fact):
    path = write({1: pack_record(0, 1, jpeg(0)[:400] if image is None else image), 2: pack_record(0, 2, jpeg(1))})
    dataset = FaceDataset(str(path), pipeline=[dict(type='DecodeFace')])
    with pytest.raises(DataFormatError, match=fact):
        dataset[0]
    assert dataset[1]['img'].shape == (112, 112, 3)


def test_blocks_and_chunks_have_no_seams(rec, expected, monkeypatch):
    monkeypatch.setattr(recordio_index, '_BLOCK', 1)
    monkeypatch.setattr(recordio_survey, '_CHUNK', 3)
    with collect_faults():  # nothing from the cache
        records = open_records(rec / 'insightface')
    assert records.keys.tolist() == [image['key'] for image in expected['insightface']['images']]
    assert digests(records) == [image['sha256'] for image in expected['insightface']['images']]


def test_all_faults_are_found_when_somebody_looks_for_all(write, jpeg, monkeypatch):
    monkeypatch.setattr(recordio_survey, '_CHUNK', 2)
    labels = [0, float('nan'), 1, 0, -1, 1]
    path = write({key: pack_record(label, key, jpeg(key)) for key, label in enumerate(labels, 1)})
    data, offsets = bytearray(path.read_bytes()), read_index(path.with_suffix('.idx'))[1]
    for key in (3, 4):
        data[offsets[key - 1]] ^= 1
    path.write_bytes(data)
    with collect_faults() as faults:
        records = open_records(path)
    assert [(fault.where, fault.value) for fault in faults] == [
        ('record 3', f'no record magic at offset {offsets[2]}'), ('record 4', f'no record magic at offset {offsets[3]}'),
        ('record 2', 'label nan is no class number'), ('record 5', 'label -1 is no class number')]
    assert records.keys.tolist() == [1, 2, 5, 6]
    with pytest.raises(DataFormatError, match='record 3: no record magic'):
        open_records(path)


def test_the_images_of_a_batch_are_announced_before_the_first_is_read(small_rec, monkeypatch):
    dataset = FaceDataset(str(small_rec), pipeline=[dict(type='DecodeFace'), dict(type='PackFace')])
    records, done = dataset.records, []
    file = SimpleNamespace(madvise=lambda advice, start, length: done.append((advice, start, start + length)))
    monkeypatch.setattr(records, '_file', file)
    read = records.read
    monkeypatch.setattr(records, 'read', lambda at: done.append('read') or read(at))
    dataset.__getitems__([(0, 9), (0, 2), (0, 5)])
    data = small_rec.read_bytes()
    assert done[3:] == ['read'] * 3
    for at, (advice, start, end) in zip((9, 2, 5), done, strict=False):
        place = data.index(bytes(read(at)))
        assert (advice, start % mmap.PAGESIZE) == (mmap.MADV_WILLNEED, 0)
        assert place - mmap.PAGESIZE < start <= place and end == place + len(read(at))

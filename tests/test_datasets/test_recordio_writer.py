"""What the writer leaves on disk: MXNet's bytes, or nothing."""
import numpy as np
import pytest

from mmface.datasets import open_records
from mmface.datasets.formats.recordio.frames import IR_HEADER, MAGIC_BYTES, read_record
from mmface.datasets.formats.recordio.index import read_index
from mmface.datasets.formats.recordio.stream import pack_record
from mmface.datasets.formats.recordio.writer import RecordIOWriter, write_training_set


@pytest.mark.parametrize('variant', ['insightface', 'multipart', 'face2rec2', 'im2rec'])
def test_records_written_again_have_the_bytes_that_mxnet_wrote(shared, tmp_path, variant):
    source = shared / f'reference/fixtures/rec/{variant}/train.rec'
    view = memoryview(source.read_bytes())
    with RecordIOWriter(tmp_path / 'train.rec') as writer:
        for key, offset in zip(*read_index(source.with_suffix('.idx')), strict=True):
            record = read_record(source, view, int(offset), int(key))
            labels = float(record.labels[0]) if record.flag == 0 else record.labels
            id2 = 1 if variant == 'insightface' and key == 0 else 0
            writer.write(int(key), pack_record(labels, record.id, bytes(record.body), id2))
    assert (tmp_path / 'train.rec').read_bytes() == source.read_bytes()
    assert (tmp_path / 'train.idx').read_bytes() == source.with_suffix('.idx').read_bytes()


def test_a_training_set_has_the_bytes_that_insightface_writes(shared, tmp_path):
    source = shared / 'reference/fixtures/rec/insightface/train.rec'
    records = open_records(source)
    people = [[records.read(at) for at in np.flatnonzero(records.labels == label)] for label in range(records.num_classes)]
    assert write_training_set(tmp_path / 'train.rec', people) == (18, 6)
    for name in ('train.rec', 'train.idx', 'property'):
        assert (tmp_path / name).read_bytes() == source.with_name(name).read_bytes(), name


@pytest.mark.parametrize('at', [0, 4, 8, 5, 24, 1000])
def test_the_magic_word_may_stand_anywhere_in_an_image(tmp_path, at):
    body = bytearray(range(256)) * 8
    body[at:at + 8] = MAGIC_BYTES * 2
    write_training_set(tmp_path / 'a.rec', [[bytes(body), b'plain']])
    records = open_records(tmp_path / 'a.rec')
    assert [bytes(records.read(0)), bytes(records.read(1))] == [bytes(body), b'plain']


def test_the_magic_word_may_stand_in_the_header_itself(tmp_path):
    ident = int.from_bytes(MAGIC_BYTES * 2, 'little')
    with RecordIOWriter(tmp_path / 'a.rec') as writer:
        writer.write(1, IR_HEADER.pack(0, 4, ident, ident) + b'image')
    records = open_records(tmp_path / 'a.rec')
    assert records.labels.tolist() == [4]
    assert bytes(records.read(0)) == b'image'


def test_nothing_is_under_the_final_name_before_the_end(tmp_path, jpeg):
    def people():
        yield [jpeg(0)]
        assert not {'train.rec', 'train.idx', 'property'} & {file.name for file in tmp_path.iterdir()}
        yield [jpeg(1)]

    write_training_set(tmp_path / 'train.rec', people())
    assert {file.name for file in tmp_path.iterdir()} == {'train.rec', 'train.idx', 'property'}


def test_a_failure_keeps_the_old_set_and_leaves_no_rubbish(tmp_path, jpeg):
    write_training_set(tmp_path / 'train.rec', [[jpeg(0)]])
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def people():
        yield [jpeg(1)]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_training_set(tmp_path / 'train.rec', people())
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_person_without_image_is_refused(tmp_path, jpeg):
    with pytest.raises(ValueError, match='class 1 has no image'):
        write_training_set(tmp_path / 'train.rec', [[jpeg(0)], []])
    assert list(tmp_path.iterdir()) == []

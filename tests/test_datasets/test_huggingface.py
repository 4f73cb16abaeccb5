"""Sets in the files of Hugging Face's datasets: the reference set, made ones by pyarrow, and what is said of broken ones."""
import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval, open_records
from mmface.datasets.decode import decode_image
from mmface.datasets.formats import EVALS, RECORDS
from mmface.datasets.formats.huggingface import metadata as huggingface_metadata

pa = pytest.importorskip('pyarrow', reason='these sets are read and made with pyarrow')
pq = pytest.importorskip('pyarrow.parquet', reason='these sets are read and made with pyarrow')

IMAGE = pa.struct([('bytes', pa.binary()), ('path', pa.string())])


@pytest.fixture(scope='session')
def hf(shared) -> Path:
    return shared / 'reference/fixtures/hf'


@pytest.fixture
def save(tmp_path, jpeg):
    """``save('arrow', label=[0, 1])``: a set of as many images, in two files, or three row groups, with these columns."""

    def make(kind: str, names: list[str] | None = None, image=None, **columns) -> Path:
        n = len(next(iter(columns.values())))
        images = [{'bytes': jpeg(seed), 'path': None} for seed in range(n)] if image is None else image
        table = pa.table({'image': pa.array(images, IMAGE), **{name: pa.array(values) for name, values in columns.items()}})
        if names is not None:
            features = {'label': {'names': names, '_type': 'ClassLabel'}}
            table = table.replace_schema_metadata({'huggingface': json.dumps({'info': {'features': features}})})
        folder = tmp_path / kind
        folder.mkdir()
        if kind == 'parquet':
            pq.write_table(table, folder / 'train-00000-of-00001.parquet', row_group_size=max(1, n // 3))
            return folder
        files = [f'data-{at:05d}-of-00002.arrow' for at in range(2)]
        for file, part in zip(files, (table[:n // 2], table[n // 2:]), strict=True):
            with pa.OSFile(str(folder / file), 'wb') as sink, pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(part, max_chunksize=2)
        (folder / 'state.json').write_text(json.dumps({'_data_files': [{'filename': file} for file in files]}))
        (folder / 'dataset_info.json').write_text(json.dumps({'features': dict.fromkeys(table.schema.names)}))
        return folder

    return make


@pytest.mark.parametrize('name', ['lfw', 'lfw/data-00000-of-00001.arrow', 'parquet', 'parquet/test-00000-of-00001.parquet'])
def test_the_reference_pairs_are_read_with_is_same_once_a_pair(hf, name):
    expected = json.loads((hf / 'expected.json').read_text())
    reader = EVALS.open(hf / name)
    assert reader.set.same.tolist() == expected['is_same_per_pair']
    assert reader.set.pairs.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert reader.set.name == Path(name).stem
    assert [hashlib.sha256(reader.read(at)).hexdigest() for at in range(6)] == expected['payload_sha256']
    again = pickle.loads(pickle.dumps(reader))
    assert [bytes(again.read(at)) for at in range(6)] == [bytes(reader.read(at)) for at in range(6)]


@pytest.mark.parametrize('kind', ['arrow', 'parquet'])
def test_a_training_set_gives_its_images_and_labels_in_the_order_of_the_rows(save, jpeg, kind):
    folder = save(kind, label=[2, 0, 1, 1, 0, 2, 2])
    assert [name for table in (RECORDS, EVALS) for name, reader in table.readers.items() if reader.sniff(folder)] == ['huggingface']
    records = open_records(folder)
    assert records.labels.tolist() == [2, 0, 1, 1, 0, 2, 2]
    assert (records.num_classes, records.classes) == (3, None)
    assert [bytes(records.read(at)) for at in (6, 0, 3, 1, 5, 2, 4)] == [jpeg(at) for at in (6, 0, 3, 1, 5, 2, 4)]
    assert records.where(3) == ('data-00001-of-00002.arrow row 0' if kind == 'arrow' else 'train-00000-of-00001.parquet row 3')


@pytest.mark.parametrize('kind', ['arrow', 'parquet'])
def test_a_class_label_feature_names_the_classes_even_those_without_image(save, kind):
    records = open_records(save(kind, names=['ada', 'bob', 'eve'], label=[0, 1, 1, 0]))
    assert records.classes == {'ada': 0, 'bob': 1, 'eve': 2}
    assert records.num_classes == 3


def test_columns_may_have_other_names(save):
    records = open_records(save('arrow', label=[0, 1], person=[5, 6]), label='person')
    assert records.labels.tolist() == [5, 6]


def test_an_image_of_a_stream_is_not_copied(save):
    image = open_records(save('arrow', label=[0, 1])).read(0)
    assert isinstance(image, memoryview)
    assert image.readonly


@pytest.mark.parametrize('kind', ['arrow', 'parquet'])
def test_images_decode_like_any_others(save, jpeg, kind):
    records = open_records(save(kind, label=[0, 1]))
    np.testing.assert_array_equal(decode_image(records.read(1)), decode_image(jpeg(1)))


@pytest.mark.parametrize('columns, fact', [
    (dict(label=[0, -1]), 'row 0: label -1 is no class number'),
    (dict(label=[.5, 1.]), 'row 0: label 0.5 is no class number'),
    (dict(label=[None, 1]), 'row 0: no label: 1 of 2 rows have none'),
    (dict(label=['ada', 'bob']), 'column label: type string: expected numbers'),
    (dict(person=[0, 1]), 'no column label: found: image, person'),
    (dict(label=[0, 3], names=['ada', 'bob']), 'row 0: label 3: the feature label names 2 classes'),
])
def test_labels_that_are_none_are_refused_with_their_row(save, columns, fact):
    with pytest.raises(DataFormatError) as raised:
        open_records(save('arrow', **columns))
    assert fact in str(raised.value)


def test_images_elsewhere_are_refused_at_their_row(save, jpeg):
    records = open_records(save('arrow', image=[{'bytes': jpeg(0), 'path': None}, {'bytes': None, 'path': 'a.jpg'}], label=[0, 1]))
    assert bytes(records.read(0)) == jpeg(0)
    with pytest.raises(DataFormatError, match=r'data-00001-of-00002\.arrow row 0: no image bytes'):
        records.read(1)


@pytest.mark.parametrize('cut', [8, 12, 500, 1500])
def test_a_stream_cut_short_is_refused_even_between_batches(save, cut):
    folder = save('arrow', label=[0, 1, 2, 3])
    file = folder / 'data-00001-of-00002.arrow'
    file.write_bytes(file.read_bytes()[:-cut])
    with pytest.raises(DataFormatError, match=r'data-00001-of-00002\.arrow: record batch \d: .*: the file is cut short'):
        open_records(folder)


def test_offsets_that_lead_out_of_the_file_are_refused_when_it_is_opened(save, jpeg):
    folder = save('arrow', label=[0, 1, 2, 3])
    file = folder / 'data-00000-of-00002.arrow'
    data, offsets = file.read_bytes(), np.array([0, len(jpeg(0)), len(jpeg(0)) + len(jpeg(1))], '<i4')
    assert data.count(offsets.tobytes()) == 1
    file.write_bytes(data.replace(offsets.tobytes(), np.array([0, 1 << 30, 1 << 30], '<i4').tobytes()))
    with pytest.raises(DataFormatError, match=r'data-00000-of-00002\.arrow: record batch 0: '):
        open_records(folder)


def test_a_parquet_file_cut_short_and_a_damaged_row_group_are_refused(save):
    folder = save('parquet', label=[0, 1, 2])
    file = folder / 'train-00000-of-00001.parquet'
    data = file.read_bytes()
    file.write_bytes(data[:-20])
    with pytest.raises(DataFormatError, match=r'train-00000-of-00001\.parquet: .*: the file is cut short'):
        open_records(folder)
    file.write_bytes(data[:4] + b'\xff' * 2000 + data[2004:])
    records = open_records(folder)
    with pytest.raises(DataFormatError, match=r'train-00000-of-00001\.parquet: row group 0: '):
        records.read(0)


def test_a_row_group_that_makes_random_order_slow_is_warned_of(save, monkeypatch):
    monkeypatch.setattr('mmface.datasets.formats.huggingface.parquet_files._LARGE', 1 << 10)
    with pytest.warns(DataFormatWarning, match='a row group of 0 MiB: an image in random order costs a whole one'):
        open_records(save('parquet', label=[0, 1, 2]))


def test_missing_files_and_several_splits_are_named(save):
    folder = save('arrow', label=[0, 1, 2, 3])
    (folder / 'data-00000-of-00002.arrow').rename(folder.parent / 'data-00000-of-00002.arrow')
    with pytest.raises(DataFormatError, match=r'data-00000-of-00002\.arrow: no such file: state\.json lists it'):
        open_records(folder)
    (folder / 'state.json').unlink()
    with pytest.raises(DataFormatError, match='1 of 00002 files missing: the first is number 00000'):
        open_records(folder)
    (folder.parent / 'dataset_dict.json').write_text('{"splits": ["arrow"]}')
    (folder / 'state.json').write_text('{}')
    with pytest.raises(DataFormatError, match='1 splits: name one of the folders in it: arrow'):
        open_records(folder.parent, 'huggingface')
    with pytest.raises(DataFormatError, match=r"state\.json: KeyError\('_data_files'\)"):
        open_records(folder, 'huggingface')
    (folder / 'state.json').write_text('{"_data_files": [{"filename": "../data-00000-of-00002.arrow"}]}')
    with pytest.raises(DataFormatError, match='expected the name of a file beside it'):
        open_records(folder, 'huggingface')


def test_images_of_an_evaluation_set_come_in_the_order_of_their_index(save, jpeg):
    reader = EVALS.open(save('arrow', index=[2, 3, 0, 1], is_same=[True, True, False, False], path=['c', 'd', 'a', 'b']))
    assert reader.set.same.tolist() == [False, True]
    assert reader.set.paths == ['a', 'b', 'c', 'd']
    assert [bytes(reader.read(at)) for at in range(4)] == [jpeg(2), jpeg(3), jpeg(0), jpeg(1)]
    assert reader.where(0) == 'data-00001-of-00002.arrow row 0'


@pytest.mark.parametrize('columns, fact', [
    (dict(index=[0, 1, 1, 3], is_same=[True] * 4), 'row 0: index 1: expected every number from 0 to 3 once'),
    (dict(index=[0, 1, 2, 3], is_same=[True, True, False, True]), 'row 0 and data-00001-of-00002.arrow row 1: is_same False and True'),
    (dict(index=[0, 1, 2], is_same=[True] * 3), '3 images: expected two a pair'),
    (dict(index=[0, 1]), 'no column is_same: and no metadata.pt beside the files'),
])
def test_pairs_that_do_not_add_up_are_refused(save, columns, fact):
    with pytest.raises(DataFormatError) as raised:
        open_eval(save('arrow', **columns), 'huggingface')
    assert fact in str(raised.value)


@pytest.fixture
def with_metadata(save, monkeypatch):
    """``with_metadata(n, values)``: a set of n images whose metadata.pt, which has a reader and tests of its own, holds these values."""

    def make(n: int, values: dict, **columns):
        folder = save('arrow', index=list(range(n)), **columns)
        (folder / 'metadata.pt').touch()
        monkeypatch.setattr(huggingface_metadata, 'read_metadata_pt', lambda path: values)
        return folder

    return make


IJB = dict(faceness_scores=np.float32([.5, 1., .25]), templates=np.array([7, -1, 7]), medias=np.array([1, 2, 3]), label=np.array([1, 0]),
           p1=np.array([7, 7]), p2=np.array([7, -1]))


def test_templates_come_from_the_metadata(with_metadata):
    found = open_eval(with_metadata(3, IJB), name='ijbc')
    assert (found.name, found.template.tolist(), found.media.tolist()) == ('ijbc', [7, -1, 7], [1, 2, 3])
    assert found.pairs.tolist() == [[7, 7], [7, -1]]
    assert found.same.tolist() == [True, False]
    assert found.det_score.tolist() == [.5, 1., .25]
    assert found.landmarks is None


@pytest.mark.parametrize('change, fact', [
    (dict(templates=np.array([7, 1])), 'templates: 2 values: there are 3 images'),
    (dict(p2=np.array([7, 8])), 'pair 1: templates [7, 8]: one has no image; so have 1 pairs'),
    (dict(label=np.array([1, 2])), 'label 1: 2: 1 of 2 values are wrong'),
    (dict(faceness_scores=np.float32([.5, np.nan, 1.])), 'faceness_scores 1: nan: 1 of 3 values are wrong'),
])
def test_metadata_that_contradict_the_images_are_refused(with_metadata, change, fact):
    with pytest.raises(DataFormatError) as raised:
        open_eval(with_metadata(3, IJB | change))
    assert fact in str(raised.value)


TINY = dict(image_paths=['p/1_1.jpg', 'g/1_2.jpg', 'g/30_1.jpg', 'd/x.jpg'], probe_paths=['p/1_1.jpg'],
            gallery_paths=['g/30_1.jpg', 'g/1_2.jpg'], distractor_paths=['d/x.jpg'])


def test_searches_come_from_the_metadata_and_the_names_of_the_files(with_metadata):
    found = open_eval(with_metadata(4, TINY, path=TINY['image_paths']))
    assert (found.probe.tolist(), found.gallery.tolist(), found.distractor.tolist()) == ([0], [2, 1], [3])
    assert found.ids[:3].tolist() == [1, 1, 30]
    assert found.ids[3] not in found.ids[:3]


@pytest.mark.parametrize('change, paths, fact', [
    (dict(probe_paths=['p/9_9.jpg']), None, 'probe_paths 0: p/9_9.jpg: no image of the set is called so'),
    (dict(), ['p/1_1.jpg', 'g/1_1.jpg', 'g/30_1.jpg', 'd/x.jpg'], 'image 1: g/1_1.jpg: called like image 0'),
    (dict(gallery_paths=['d/x.jpg']), None, 'image 3: d/x.jpg: expected <id>_<n>.jpg'),
])
def test_search_lists_that_name_no_image_are_refused(with_metadata, change, paths, fact):
    with pytest.raises(DataFormatError) as raised:
        open_eval(with_metadata(4, TINY | change, path=paths or TINY['image_paths']))
    assert fact in str(raised.value)


def test_the_metadata_of_the_reference_set_are_those_of_templates(hf, save):
    folder = save('arrow', index=[0, 1, 2])
    (folder / 'metadata.pt').write_bytes((hf / 'IJBC_meta/metadata.pt').read_bytes())
    found = open_eval(folder)
    assert len(found.paths) == len(found.template) == 3
    assert np.isin(found.pairs, found.template).all()

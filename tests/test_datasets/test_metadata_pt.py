"""``metadata.pt``: what torch wrote is read, and nothing else."""
import pickle
import zipfile

import numpy as np
import pytest
import torch

from mmface.datasets import DataFormatError
from mmface.datasets.formats import read_metadata_pt

NAMES = ['a/1.jpg', 'Zoë/2.jpg', '']
VALUES = {
    'float32': np.array([0.5, -1, np.inf], np.float32),
    'int64, Fortran order': np.asfortranarray(np.arange(6).reshape(2, 3)),
    'big-endian': np.arange(5, dtype='>i4'),
    'bool': np.array([True, False]),
    'empty': np.zeros((0, 4)),
    'no dimension': np.array(3.5),
    'all bytes': np.arange(256, dtype=np.uint8),
    'text': np.array(NAMES),
}


@pytest.fixture
def saved(tmp_path):

    def make(content, **options):
        torch.save(content, tmp_path / 'metadata.pt', **options)
        return tmp_path / 'metadata.pt'

    return make


@pytest.fixture
def zipped(tmp_path):
    """``zipped(pickle)``: an archive as torch.save writes it, around any pickle."""

    def make(data: bytes, name: str = 'metadata/data.pkl', compression: int = zipfile.ZIP_STORED):
        with zipfile.ZipFile(tmp_path / 'metadata.pt', 'w', compression) as archive:
            archive.writestr(name, data)
        return tmp_path / 'metadata.pt'

    return make


def test_the_file_of_the_fixtures_is_what_torch_reads_from_it(shared):
    path = shared / 'reference/fixtures/hf/IJBC_meta/metadata.pt'
    kinds = [np.dtypes.Float32DType, np.dtypes.Int64DType, np.ndarray, np.dtype, np._core.multiarray._reconstruct]
    with torch.serialization.safe_globals(kinds):
        want = torch.load(path, weights_only=True)
    found = read_metadata_pt(path)
    assert list(found) == list(want) == ['faceness_scores', 'templates', 'medias', 'label', 'p1', 'p2']
    for key in want:
        np.testing.assert_array_equal(found[key], want[key], strict=True)


@pytest.mark.parametrize('protocol', [2, 3, 4])
def test_arrays_come_back_as_they_were(saved, protocol):
    found = read_metadata_pt(saved(VALUES, pickle_protocol=protocol))
    assert list(found) == list(VALUES)
    for key, value in VALUES.items():
        np.testing.assert_array_equal(found[key], value, strict=True)
        assert found[key].dtype == value.dtype


def test_lists_become_arrays(saved):
    lists = {'names': NAMES, 'objects': np.array(NAMES, object), 'numbers': [1, -2**63], 'flags': (True, False), 'none': []}
    found = read_metadata_pt(saved(lists))
    assert (found['names'].tolist(), found['objects'].tolist()) == (NAMES, NAMES)
    assert (found['numbers'].dtype, found['numbers'].tolist()) == (np.int64, [1, -2**63])
    assert (found['flags'].dtype, found['flags'].tolist()) == (bool, [True, False])
    assert found['none'].shape == (0, )


def test_an_array_under_two_keys_is_read_once(saved):
    array = np.arange(1000)
    found = read_metadata_pt(saved({'a': array, 'b': array}))
    assert found['a'] is found['b']


@pytest.mark.parametrize('content, fact', [
    ({'a': torch.zeros(3)}, 'opcode GLOBAL names torch._utils._rebuild_tensor_v2'),
    ([1, 2], 'holds list'),
    ({'a': 'text'}, "key 'a': str"),
    ({'a': {'b': 1}}, "key 'a': dict"),
    ({'a': [1, 'x']}, "key 'a': a list of int, str"),
    ({'a': [2**63]}, "key 'a': a list of int"),
    ({'a': [1.5]}, 'opcode BINFLOAT'),
    ({1: [1]}, 'opcode SETITEMS? on int, expected a name'),
    ({'a': np.zeros(2, [('x', 'i4')])}, "numpy.dtype 'V4'"),
    ({'a': np.array([None])}, "key 'a': a list of None"),
])
def test_other_content_is_refused_with_its_key(saved, content, fact):
    with pytest.raises(DataFormatError, match=rf'metadata\.pt: (data\.pkl, offset [0-9]+: )?{fact}'):
        read_metadata_pt(saved(content))


def test_a_dict_in_itself_and_a_key_for_the_second_time_are_refused(zipped):
    with pytest.raises(DataFormatError, match='BINGET puts dict into itself'):
        read_metadata_pt(zipped(b'\x80\2}q\0U\1ah\0s.'))
    with pytest.raises(DataFormatError, match="key 'a' for the second time"):
        read_metadata_pt(zipped(b'\x80\2}(U\1aNU\1aNu.'))


@pytest.mark.parametrize('content', [b'', b'no archive', b'PK\x03\x04' + b'\0' * 60])
def test_what_is_no_archive_is_refused(tmp_path, content):
    (tmp_path / 'metadata.pt').write_bytes(content)
    with pytest.raises(DataFormatError, match=r'metadata\.pt: not a zip archive, or a damaged one'):
        read_metadata_pt(tmp_path / 'metadata.pt')


def test_an_archive_that_is_cut_or_packed_or_of_something_else_is_refused(zipped, saved):
    with pytest.raises(DataFormatError, match=r'10000000 bytes packed into [0-9]+: torch\.save packs nothing'):
        read_metadata_pt(zipped(b'0' * 10_000_000, compression=zipfile.ZIP_DEFLATED))
    with pytest.raises(DataFormatError, match=r'0 members called data\.pkl'):
        read_metadata_pt(zipped(b'', 'other/file'))
    path = saved(VALUES)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataFormatError, match='damaged'):
        read_metadata_pt(path)


def test_an_array_whose_shape_and_bytes_differ_is_refused(zipped):
    data = pickle.dumps({'a': np.arange(3, dtype=np.int8)}, 2)
    assert data.count(b'K\3\x85') == 1
    with pytest.raises(DataFormatError, match=r"key 'a': an array of int8 with the shape \(4,\), but 3 bytes"):
        read_metadata_pt(zipped(data.replace(b'K\3\x85', b'K\4\x85')))


def test_one_long_text_in_many_arrays_is_kept_once(zipped):
    text = b'c_codecs\nencode\n%sU\6latin1\x86R'
    array = b'cnumpy.core.numeric\n_frombuffer\n(' + text + b'cnumpy\ndtype\nU\2i1\x85R(K\3U\1|tbJ\0\0\x08\0\x85U\1CtR'
    long, again = b'X\0\0\x10\0' + b'\xc3\xbf' * (1 << 19) + b'q\0', b'h\0'
    found = read_metadata_pt(zipped(b'\x80\2}(U\1a' + array % long + b'U\1b' + array % again + b'u.'))
    assert found['a'].tolist() == [-1] * (1 << 19)
    assert np.shares_memory(found['a'], found['b'])

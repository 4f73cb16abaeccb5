"""MATLAB files: SciPy reads the same, and damage of any kind is an error and nothing worse."""
import itertools

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from mmface.datasets import DataFormatError
from mmface.datasets.formats.matlab.file import read_mat


def cell(*values, shape=None) -> np.ndarray:
    array = np.empty(len(values), object)
    for at, value in enumerate(values):
        array[at] = value
    return array.reshape(shape or (1, -1), order='F')


def records(**fields) -> np.ndarray:
    array = np.empty((1, 2), [(name, object) for name in fields])
    for name, value in fields.items():
        array[name] = value
    return array


TYPES = ('f8', 'f4', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8')
VALUES = {
    **{f'number_{dtype}': (np.arange(12).reshape(3, 4) * 9).astype(dtype) for dtype in TYPES},
    'cube': np.arange(24.).reshape(2, 3, 4),
    'complex': np.array([[1 + 2j, 3 - 4j]]),
    'one': np.array([[7]], np.uint16),
    'nothing': np.empty((0, 0)),
    'text': 'a file.jpg',
    'letter': 'x',
    'accents': 'Zoë_Łuk.jpg',
    'rows': np.array(['abc', 'de ']),
    'cells': cell('1_1.jpg', 'b', np.arange(3.), cell('deep', np.ones((2, 2)))),
    'matrix_of_cells': cell('a', 'b', 'c', 'd', 'e', 'f', shape=(2, 3)),
    'structs': records(name=cell('first', 'second'), age=cell(np.array([[3.]]), np.array([[4.]]))),
}


def same(one, other) -> bool:
    """Equal in type, shape and every value, however deep."""
    if one.dtype.names or other.dtype.names:
        return one.dtype.names == other.dtype.names and all(same(one[name], other[name]) for name in one.dtype.names)
    if one.dtype == object:
        return other.dtype == object and one.shape == other.shape and all(itertools.starmap(same, zip(one.flat, other.flat, strict=True)))
    return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())


@pytest.mark.parametrize('compressed', [False, True])
def test_every_value_is_what_scipy_reads(tmp_path, compressed):
    savemat(tmp_path / 'a.mat', VALUES, do_compression=compressed)
    expected = loadmat(tmp_path / 'a.mat')
    for key, value in zip(VALUES, read_mat(tmp_path / 'a.mat', *VALUES), strict=True):
        assert same(value, expected[key]), key


def test_the_reference_files_are_what_scipy_reads(shared):
    found = [*(shared / 'reference/fixtures/ident').rglob('*.mat'), *(shared / 'reference/fixtures/pairs').rglob('*.mat')]
    assert len(found) >= 3
    for path in found:
        expected = {key: value for key, value in loadmat(path).items() if not key.startswith('__')}
        for key, value in zip(expected, read_mat(path, *expected), strict=True):
            assert same(value, expected[key]), (path, key)


def test_big_endian_files_are_read(tmp_path):
    """Written by hand: a 1 x 2 matrix of doubles called x, stored as two bytes."""

    def element(kind: int, content: bytes) -> bytes:
        return kind.to_bytes(4, 'big') + len(content).to_bytes(4, 'big') + content + b'\0' * (-len(content) % 8)

    small = (1 << 16 | 1).to_bytes(4, 'big') + b'x\0\0\0'
    matrix = element(6, b'\0\0\0\6' + b'\0' * 4) + element(5, b'\0\0\0\1\0\0\0\2') + small + (2 << 16 | 2).to_bytes(4, 'big') + b'\5\7\0\0'
    (tmp_path / 'a.mat').write_bytes(b'MATLAB 5.0'.ljust(124) + b'\1\0MI' + element(14, matrix))
    assert read_mat(tmp_path / 'a.mat', 'x')[0].tolist() == [[5., 7.]]
    assert loadmat(tmp_path / 'a.mat')['x'].tolist() == [[5., 7.]]


@pytest.mark.parametrize('compressed', [False, True])
def test_any_damage_is_an_error_or_changes_a_value(tmp_path, compressed):
    path = tmp_path / 'a.mat'
    savemat(path, {key: VALUES[key] for key in ('cells', 'structs', 'rows', 'one')}, do_compression=compressed)
    whole, random = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(600):
        data = bytearray(whole)
        at = int(random.integers(128, len(data)))
        data[at:at + 1] = b'' if random.random() < .2 else random.choice([0, 1, 16, 127, 255]).astype(np.uint8).tobytes()
        path.write_bytes(data[:at + 200 if random.random() < .2 else None])
        try:
            read_mat(path, 'cells', 'structs', 'rows', 'one')
        except DataFormatError:
            refused += 1
    assert refused > 200


def test_what_claims_more_than_there_is_allocates_nothing(tmp_path):
    path = tmp_path / 'a.mat'
    savemat(path, {'x': cell('a')})
    whole = path.read_bytes()
    at = whole.index(b'\1\0\0\0\1\0\0\0')
    path.write_bytes(whole[:at] + b'\xff\xff\xff\x7f\xff\xff\xff\x7f' + whole[at + 8:])
    with pytest.raises(DataFormatError, match=r'cannot be read: truncated or damaged: \d+ bytes for dimensions'):
        read_mat(path, 'x')


def test_cells_within_cells_without_end_are_refused(tmp_path):
    deep = cell('a')
    for _ in range(20):
        deep = cell(deep)
    savemat(tmp_path / 'a.mat', {'x': deep})
    with pytest.raises(DataFormatError, match='more than 16 deep'):
        read_mat(tmp_path / 'a.mat', 'x')


@pytest.mark.parametrize('content, fact', [
    (b'', 'cannot be read: no MATLAB file'),
    (b'MATLAB 5.0'.ljust(124) + b'\1\0IM', 'keys x missing: found: none'),
    (b'MATLAB 5.0'.ljust(124) + b'\1\0IM' + b'\1', 'cannot be read: truncated or damaged: 1 bytes'),
    (b'MATLAB 7.3 MAT-file', 'MATLAB 7.3'),
    (b'\0' * 512 + b'\x89HDF\r\n\x1a\n', 'MATLAB 7.3'),
    (b'<html>', 'a web page'),
])
def test_what_is_no_such_file_is_refused(tmp_path, content, fact):
    (tmp_path / 'a.mat').write_bytes(content)
    with pytest.raises(DataFormatError) as raised:
        read_mat(tmp_path / 'a.mat', 'x')
    assert fact in str(raised.value)

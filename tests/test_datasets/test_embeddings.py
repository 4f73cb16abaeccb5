"""Embedding files: every type and order, every damage, and which row belongs to which image."""
import io
import json
import struct
import warnings
import zipfile

import numpy as np
import pytest

from mmface.datasets import DataFormatError
from mmface.datasets.formats import read_embeddings, write_embeddings

ROWS = np.random.default_rng(0).normal(size=(5, 4))
NAMES = [f'person/{at}.jpg' for at in range(5)]


def saved(array: np.ndarray, **options) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


@pytest.mark.parametrize('dtype', ['<f2', '>f2', '<f4', '>f4', '<f8', '>f8'])
@pytest.mark.parametrize('order', ['C', 'F'])
def test_types_and_orders_are_read_exactly_and_widened(tmp_path, dtype, order):
    array = np.asarray(ROWS.astype(dtype), order=order)
    np.save(tmp_path / 'a.npy', array)
    found = read_embeddings(tmp_path / 'a.npy').embeddings
    assert found.dtype == (np.float64 if dtype[-1] == '8' else np.float32)
    assert found.flags.c_contiguous
    assert found.tolist() == array.tolist()


@pytest.mark.parametrize('suffix', ['npz', 'safetensors'])
@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64])
def test_what_is_written_is_read_again(tmp_path, suffix, dtype):
    rows = np.asfortranarray(ROWS.astype(dtype))
    names = ['Zoë/1.jpg', *NAMES[1:]]
    write_embeddings(tmp_path / f'new/a.{suffix}', rows, rows[::-1], names)
    found = read_embeddings(tmp_path / f'new/a.{suffix}')
    assert found.embeddings.tolist() == rows.tolist()
    assert found.mirrored.tolist() == rows[::-1].tolist()
    assert found.names == names
    assert [path.name for path in (tmp_path / 'new').iterdir()] == [f'a.{suffix}']


def test_a_plain_array_has_neither_names_nor_mirrored_rows(tmp_path):
    write_embeddings(tmp_path / 'a.npy', ROWS)
    found = read_embeddings(tmp_path / 'a.npy')
    assert (found.names, found.mirrored, len(found)) == (None, None, 5)


@pytest.mark.parametrize('name, given', [('a.npy', dict(names=NAMES)), ('a.npy', dict(mirrored=ROWS)), ('a.csv', {}),
                                         ('a.npz', dict(names=NAMES[:4])), ('a.npz', dict(mirrored=ROWS[:, :2]))])
def test_what_a_file_cannot_hold_is_not_written(tmp_path, name, given):
    with pytest.raises(ValueError, match='expected'):
        write_embeddings(tmp_path / name, ROWS, **given)
    assert list(tmp_path.iterdir()) == []


def test_halves_are_split_when_asked(tmp_path):
    np.save(tmp_path / 'a.npy', ROWS)
    found = read_embeddings(tmp_path / 'a.npy', split=True)
    assert found.embeddings.tolist() == ROWS[:, :2].tolist()
    assert found.mirrored.tolist() == ROWS[:, 2:].tolist()
    np.save(tmp_path / 'a.npy', ROWS[:, :3])
    with pytest.raises(DataFormatError, match=r'shape \(5, 3\): expected \[N, 2D\]'):
        read_embeddings(tmp_path / 'a.npy', split=True)


def test_the_reference_files_are_answered(shared):
    root = shared / 'reference/fixtures/adversarial'
    facts = dict(inf_row='row 3: not finite', nan_row='row 3: not finite', tiny_norm='row 4: norm underflows in float32',
                 truncated='truncated.npy: truncated')
    for name, expected in json.loads((root / 'expected.json').read_text())['embeddings'].items():
        if expected['kind'] == 'ok':
            assert read_embeddings(root / f'embeddings/{name}.npy').embeddings.dtype == np.float32
            continue
        with pytest.raises(DataFormatError) as raised:
            read_embeddings(root / f'embeddings/{name}.npy')
        assert facts[name] in str(raised.value)


@pytest.mark.parametrize('row, fact', [
    ([0, 0, 0, 0], 'row 70000: norm 0'), ([0, np.nan, 0, 1], 'row 70000: not finite'), ([-np.inf, 1, 1, 1], 'row 70000: not finite'),
    ([1e-20, 0, 0, 0], 'row 70000: norm underflows'), ([1e20, 1, 1, 1], 'row 70000: norm overflows'),
])
def test_a_row_without_direction_is_named_however_long_the_file(tmp_path, row, fact):
    rows = np.ones((70002, 4), np.float32)
    rows[70000] = row
    write_embeddings(tmp_path / 'a.npz', np.ones_like(rows), rows)
    with pytest.raises(DataFormatError, match=f'mirrored {fact}'):
        read_embeddings(tmp_path / 'a.npz')
    rows[70001] = np.nan
    np.save(tmp_path / 'a.npy', rows)
    with pytest.raises(DataFormatError, match=fact):
        read_embeddings(tmp_path / 'a.npy')


@pytest.mark.parametrize('content, fact', [
    (b'', 'truncated or no .npy file'),
    (b'<!DOCTYPE html><html>', 'a web page'),
    (saved(ROWS)[:20], 'truncated or no .npy file'),
    (saved(ROWS)[:-1], 'truncated: shape (5, 4) of float64 takes 160 bytes, the file holds 159'),
    (saved(ROWS) + b'\0\0', '2 bytes after the array'),
    (saved(ROWS).replace(b'(5, 4)', b'(9**9, 4)'), 'truncated or no .npy file'),
    (saved(ROWS).replace(b'(5, 4), }      ', b'(999999999, 4), '), 'truncated or no .npy file'),
    (saved(ROWS).replace(b'(5, 4), }     ', b'(500000, 4), }'), 'truncated: shape (500000, 4) of float64 takes 16000000 bytes'),
    (saved(ROWS[0]), 'float64 (4,): expected floats [N, D]'),
    (saved(ROWS[None]), 'float64 (1, 5, 4): expected floats [N, D]'),
    (saved(ROWS[:0]), 'float64 (0, 4): expected floats [N, D]'),
    (saved(ROWS.astype(np.int64)), 'array of type int64: expected float16, float32 or float64'),
    (saved(ROWS.astype(complex)), 'array of type complex128'),
    (saved(ROWS.astype(np.longdouble)), 'array of type float128'),
    (saved(np.array([['a']])), '<U1 (1, 1): expected floats'),
    (saved(ROWS.astype(object), allow_pickle=True), 'array of objects: unpickling them would run what the file asks for'),
    (saved(np.zeros(2, [('a', float)])), "array of type [('a', '<f8')]"),
])
def test_a_damaged_array_is_refused(tmp_path, content, fact):
    (tmp_path / 'a.npy').write_bytes(content)
    with pytest.raises(DataFormatError) as raised:
        read_embeddings(tmp_path / 'a.npy')
    assert fact in str(raised.value)


def test_a_huge_claim_allocates_nothing(tmp_path):
    header = saved(ROWS)[:128].replace(b'(5, 4), }          ', b'(2000000000, 99), }'[:19])
    assert b'2000000000' in header
    (tmp_path / 'a.npy').write_bytes(header)
    with zipfile.ZipFile(tmp_path / 'a.npz', 'w') as archive:
        archive.writestr('embeddings.npy', header)
    for name in ('a.npy', 'a.npz'):
        with pytest.raises(DataFormatError, match='truncated: shape'):
            read_embeddings(tmp_path / name)


def test_a_damaged_archive_is_refused(tmp_path):
    write_embeddings(tmp_path / 'a.npz', ROWS, names=NAMES)
    whole = (tmp_path / 'a.npz').read_bytes()
    for damaged in (whole[:200], b'', whole[:150] + b'\xff' + whole[151:]):
        (tmp_path / 'a.npz').write_bytes(damaged)
        with pytest.raises(DataFormatError, match=r'a\.npz: '):
            read_embeddings(tmp_path / 'a.npz')


@pytest.mark.parametrize('arrays, fact', [
    (dict(first=ROWS, second=ROWS), 'arrays first, second: expected "embeddings", or one array only'),
    (dict(embeddings=ROWS, mirrored=ROWS[:4]), r'mirrored: shape \(4, 4\): embeddings have \(5, 4\)'),
    (dict(embeddings=ROWS, names=np.array(NAMES[:4])), 'names: 4 names: there are 5 rows'),
    (dict(embeddings=ROWS, names=np.array([3, 4])), r'names\.npy: array of type int64'),
    (dict(mirrored=ROWS), 'arrays none'),
])
def test_arrays_that_do_not_fit_together_are_refused(tmp_path, arrays, fact):
    np.savez(tmp_path / 'a.npz', **arrays)
    with pytest.raises(DataFormatError, match=fact):
        read_embeddings(tmp_path / 'a.npz')


def test_an_only_array_may_have_any_name_and_be_compressed(tmp_path):
    np.savez_compressed(tmp_path / 'a.npz', features=ROWS, names=np.array(NAMES))
    assert read_embeddings(tmp_path / 'a.npz').embeddings.tolist() == ROWS.tolist()


def test_a_damaged_safetensors_file_is_refused(tmp_path):
    torch, safetensors = pytest.importorskip('torch'), pytest.importorskip('safetensors.torch')
    path = tmp_path / 'a.safetensors'
    for content in (b'', struct.pack('<Q', 1 << 60), struct.pack('<Q', 2) + b'{}' + b'\0'):
        path.write_bytes(content)
        with pytest.raises(DataFormatError, match=r'truncated or no \.safetensors file|arrays none'):
            read_embeddings(path)
    safetensors.save_file(dict(embeddings=torch.ones(2, 3, dtype=torch.bfloat16)), path)
    with pytest.raises(DataFormatError, match='embeddings: tensor of type BF16: expected float16'):
        read_embeddings(path)
    safetensors.save_file(dict(embeddings=torch.ones(2, 3)), path, dict(names='[1,'))
    with pytest.raises(DataFormatError, match='metadata names: no JSON list'):
        read_embeddings(path)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(DataFormatError, match=r"suffix '\.pkl': expected one of \.npy, \.npz, \.safetensors"):
        read_embeddings(tmp_path / 'a.pkl')
    with pytest.raises(DataFormatError, match=r'a\.npy: no such file'):
        read_embeddings(tmp_path / 'a.npy')


def test_rows_follow_the_names_which_are_ends_of_paths(tmp_path):
    write_embeddings(tmp_path / 'a.npz', ROWS, -ROWS, NAMES)
    found = read_embeddings(tmp_path / 'a.npz').in_order_of([f'/data/set/{NAMES[at]}' for at in (3, 0, 3, 1)])
    assert found.embeddings.tolist() == ROWS[[3, 0, 3, 1]].tolist()
    assert found.mirrored.tolist() == (-ROWS[[3, 0, 3, 1]]).tolist()


def test_names_may_stand_in_a_text_file(tmp_path):
    np.save(tmp_path / 'a.npy', ROWS)
    (tmp_path / 'names.txt').write_text('\n'.join(NAMES))
    found = read_embeddings(tmp_path / 'a.npy', names=tmp_path / 'names.txt')
    assert found.in_order_of(NAMES[::-1]).embeddings.tolist() == ROWS[::-1].tolist()
    (tmp_path / 'names.txt').write_text('\n'.join(NAMES[:3]))
    with pytest.raises(DataFormatError, match=r'names\.txt: names: 3 names: there are 5 rows'):
        read_embeddings(tmp_path / 'a.npy', names=tmp_path / 'names.txt')
    with pytest.raises(DataFormatError, match=r'absent\.txt: no such file'):
        read_embeddings(tmp_path / 'a.npy', names=tmp_path / 'absent.txt')


@pytest.mark.parametrize('names, paths, fact', [
    (NAMES, ['person/0.jpg', 'x/0.jpg', '7.jpg'], r'2 of 3 images have no row: x/0\.jpg, 7\.jpg$'),
    (['0.jpg', '1.jpg', '2.jpg', '3.jpg', '0.jpg'], ['0.jpg'], r'rows 0 and 4: one name, 0\.jpg'),
    (['0.jpg', '1.jpg', '2.jpg', '3.jpg', '4.jpg'], ['a/0.jpg', 'b/0.jpg'], r'row 0: name 0\.jpg: a/0\.jpg and b/0\.jpg both end so'),
    (None, ['0.jpg'], '5 rows: there are 1 images, and no names'),
])
def test_rows_that_belong_to_no_image_for_sure_are_refused(tmp_path, names, paths, fact):
    write_embeddings(tmp_path / 'a.npz', ROWS, names=names)
    with pytest.raises(DataFormatError, match=fact):
        read_embeddings(tmp_path / 'a.npz').in_order_of(paths)


def test_without_names_the_order_is_that_of_the_set(tmp_path):
    write_embeddings(tmp_path / 'a.npz', ROWS)
    assert read_embeddings(tmp_path / 'a.npz').in_order_of(NAMES).embeddings.tolist() == ROWS.tolist()


def test_reading_warns_of_nothing(tmp_path):
    write_embeddings(tmp_path / 'a.npz', ROWS, ROWS, NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        read_embeddings(tmp_path / 'a.npz')

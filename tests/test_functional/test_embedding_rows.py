"""Rows of embeddings, and what is refused as none."""
import numpy as np
import pytest

from mmface.functional.embedding_rows import EmbeddingRows

NAMES = [f'{i}.jpg' for i in range(5)]


def some_embeddings(seed=0):
    return np.random.default_rng(seed).normal(size=(5, 4)).astype(np.float32)


def test_rows_come_as_they_are_and_with_length_one():
    raw = some_embeddings()
    rows = EmbeddingRows(raw, NAMES)
    np.testing.assert_array_equal(rows.read(np.array([3, 0]), np.float64), raw[[3, 0]])
    np.testing.assert_allclose(rows.norm, np.linalg.norm(raw.astype(float), axis=1), rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(rows.unit(slice(1, 4)), axis=1), 1, rtol=1e-15)
    assert (len(rows), rows.width) == (5, 4)


@pytest.mark.parametrize('flip, expected', [
    ('add', lambda a, b: a + b),
    ('add_unit', lambda a, b: a / np.linalg.norm(a, axis=1)[:, None] + b / np.linalg.norm(b, axis=1)[:, None]),
    ('concatenate', lambda a, b: np.hstack([a, b]))])
def test_mirrored_rows_join_by_the_rule(flip, expected):
    plain, mirrored = some_embeddings(), some_embeddings(1)
    rows = EmbeddingRows(plain, NAMES, mirrored, flip)
    wanted = expected(plain.astype(float), mirrored.astype(float))
    np.testing.assert_allclose(rows.read(slice(None)), wanted, rtol=1e-15)
    np.testing.assert_allclose(rows.norm, np.linalg.norm(wanted, axis=1), rtol=1e-15)
    assert rows.width == wanted.shape[1]


@pytest.mark.parametrize('dtype', [np.float16, np.float32, '>f4', np.float64])
def test_every_floating_type_is_widened_before_sums(dtype):
    raw = some_embeddings().astype(dtype)
    np.testing.assert_array_equal(EmbeddingRows(raw, NAMES).norm, EmbeddingRows(raw.astype(np.float64), NAMES).norm)


def test_a_memory_mapped_file_is_read_in_place(tmp_path):
    raw = some_embeddings()
    np.save(tmp_path / 'e.npy', raw)
    mapped = np.load(tmp_path / 'e.npy', mmap_mode='r')
    rows = EmbeddingRows(mapped, NAMES)
    assert np.shares_memory(rows.read(slice(1, 3), np.float32), mapped)
    np.testing.assert_array_equal(rows.unit(slice(None)), EmbeddingRows(raw, NAMES).unit(slice(None)))


@pytest.mark.parametrize('value, says', [
    (np.nan, 'is not finite'), (np.inf, 'is not finite'), (0, 'has the length 0'), (1e-30, 'underflows'), (3e38, 'overflows')])
@pytest.mark.parametrize('view', [0, 1])
def test_a_row_without_direction_is_named(value, says, view):
    views = [some_embeddings(), some_embeddings(1)]
    views[view][2] = value
    with pytest.raises(ValueError, match=rf'image 2 \(2\.jpg\) {says}|image 2 \(2\.jpg\) is so \w+ that its \w+ {says}'):
        EmbeddingRows(views[0], NAMES, views[1], 'add')


def test_views_that_cancel_out_are_named():
    plain = some_embeddings()
    mirrored = some_embeddings(1)
    mirrored[4] = -plain[4]
    with pytest.raises(ValueError, match=r'image 4 \(4\.jpg\) has the length 0'):
        EmbeddingRows(plain, NAMES, mirrored, 'add')


@pytest.mark.parametrize('arguments, says', [
    ((some_embeddings()[:4], NAMES), '5 images need embeddings'),
    ((some_embeddings().ravel(), NAMES), '5 images need embeddings'),
    ((some_embeddings(), NAMES, some_embeddings()[:, :3], 'add'), '5 images need embeddings'),
    ((some_embeddings(), NAMES, None, 'add'), 'give both or neither'),
    ((some_embeddings(), NAMES, some_embeddings()), 'give both or neither'),
    ((np.ones((5, 4), int), NAMES), 'floating-point')])
def test_anything_else_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        EmbeddingRows(*arguments)

"""From embeddings to distances: flips, norms, and the faults that must not become numbers."""
import numpy as np
import pytest

from mmface.functional.pair_distances import fuse_flip, pair_distances, unit_rows

NAMES = ['a.jpg', 'b.jpg', 'c.jpg']


def rows(seed=0):
    return np.random.default_rng(seed).normal(size=(3, 5)).astype(np.float32)


def test_distance_is_two_minus_twice_the_cosine():
    unit = unit_rows(rows(), NAMES)
    pairs = np.array([[0, 1], [2, 0]])
    expected = [2 - 2 * sum(x * y for x, y in zip(unit[a], unit[b], strict=True)) for a, b in pairs]
    np.testing.assert_allclose(pair_distances(unit, pairs), expected, rtol=0, atol=1e-14)


def test_an_image_and_its_copy_are_at_distance_zero_and_opposites_at_four():
    unit = unit_rows(np.float32([[0.1, 0.7], [0.1, 0.7], [-0.1, -0.7]]), NAMES)
    np.testing.assert_array_equal(pair_distances(unit, np.array([[0, 1], [0, 2]])), [0, 4])


def test_a_tiny_embedding_has_a_direction():
    unit = unit_rows(np.float32([[1e-38, 0], [3, 0], [0, 1]]), NAMES)  # its square underflows in float32
    np.testing.assert_array_equal(unit[0], [1, 0])


@pytest.mark.parametrize('value, says', [(np.nan, 'is not finite'), (np.inf, 'is not finite'), (0, 'has the length 0')])
def test_a_faulty_embedding_is_named(value, says):
    broken = rows()
    broken[1] = value
    with pytest.raises(ValueError, match=rf'image 1 \(b.jpg\) {says}; so are 1 of 3'):
        unit_rows(broken, NAMES)


@pytest.mark.parametrize('shape', [(2, 5), (4, 5), (3, )])
def test_embeddings_and_images_are_as_many(shape):
    with pytest.raises(ValueError, match=r'3 images need embeddings \[3, D\]'):
        unit_rows(np.ones(shape), NAMES)


def test_the_three_ways_to_use_the_mirror_image():
    plain, mirrored = rows(0), rows(1) * 3
    length = lambda vectors: np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)  # noqa: E731
    np.testing.assert_allclose(fuse_flip(plain, mirrored, 'add', NAMES), plain.astype(np.float64) + mirrored, rtol=1e-15)
    both_unit = plain / length(plain) + mirrored / length(mirrored)
    np.testing.assert_allclose(fuse_flip(plain, mirrored, 'add_unit', NAMES), both_unit, rtol=1e-14)
    np.testing.assert_array_equal(fuse_flip(plain, mirrored, 'concatenate', NAMES), np.concatenate([plain, mirrored], 1))
    assert fuse_flip(plain, None, None, NAMES) is plain


@pytest.mark.parametrize('rule, mirrored, says', [
    ('add', None, 'are absent'), (None, rows(1), 'are given'), ('add', rows(1)[:2], 'mirrored ones'),
])
def test_a_flip_needs_mirrored_embeddings_and_they_need_a_flip(rule, mirrored, says):
    with pytest.raises(ValueError, match=says):
        fuse_flip(rows(), mirrored, rule, NAMES)


def test_a_fault_does_not_hide_in_the_sum():
    plain = rows()
    plain[2] = 0
    with pytest.raises(ValueError, match=r'image 2 \(c.jpg\) has the length 0'):
        fuse_flip(plain, rows(1), 'add', NAMES)

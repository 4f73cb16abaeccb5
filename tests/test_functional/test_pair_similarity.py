"""From embeddings to cosines: flips, blocks, precision, and the faults that must not become numbers."""
import math

import numpy as np
import pytest

from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.flip_rules import FLIP_RULES
from mmface.functional.pair_similarity import pair_similarity

NAMES = ['a.jpg', 'b.jpg', 'c.jpg']


def rows(seed=0):
    return np.random.default_rng(seed).normal(size=(3, 5)).astype(np.float32)


def cosine(vectors, pairs, mirrored=None, flip=None, **options):
    return pair_similarity(EmbeddingRows(vectors, [str(i) for i in range(len(vectors))], mirrored, flip), np.array(pairs), **options)


def by_loop(x, y):
    return sum(x * y) / math.sqrt(sum(x * x) * sum(y * y))


def test_the_similarity_is_the_cosine_of_a_loop():
    vectors, pairs = rows(), [[0, 1], [2, 0], [1, 1]]
    expected = [by_loop(vectors[a].astype(float), vectors[b].astype(float)) for a, b in pairs]
    np.testing.assert_allclose(cosine(vectors, pairs), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize('dtype', ['float64', 'float32'])
def test_an_image_and_its_copy_are_at_one_exactly_and_opposites_at_minus_one(dtype):
    vectors, at = np.random.default_rng(0).normal(size=(500, 64)).astype(np.float32), np.arange(500)
    all_rows = np.concatenate([vectors, vectors, -vectors])
    np.testing.assert_array_equal(cosine(all_rows, np.stack([at, at + 500], 1), dtype=dtype), 1)
    np.testing.assert_array_equal(cosine(all_rows, np.stack([at, at + 1000], 1), dtype=dtype), -1)


@pytest.mark.parametrize('dtype', ['float64', 'float32'])
@pytest.mark.parametrize('flip', [None, *FLIP_RULES])
def test_no_bit_depends_on_the_block(flip, dtype):
    random = np.random.default_rng(0)
    vectors, mirrored = random.normal(size=(2, 300, 37)).astype(np.float32)
    pairs = random.integers(0, 300, (1000, 2))
    found = [cosine(vectors, pairs, mirrored if flip else None, flip, dtype=dtype, block=block) for block in (1, 7, 256, 5000)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_single_precision_is_double_precision_but_for_rounding():
    random = np.random.default_rng(0)
    vectors, pairs = random.normal(size=(300, 512)).astype(np.float32), random.integers(0, 300, (1000, 2))
    difference = cosine(vectors, pairs, dtype='float32') - cosine(vectors, pairs)
    assert 0 < np.abs(difference).max() < 1e-6


def test_the_three_ways_to_use_the_mirror_image():
    plain, mirrored, pairs = rows(0), rows(1) * 3, [[0, 1], [1, 2], [2, 0]]
    first, second = plain.astype(float), mirrored.astype(float)
    length = lambda vectors: np.sqrt((vectors**2).sum(1, keepdims=True))  # noqa: E731
    fused = dict(
        add=first + second, add_unit=first / length(first) + second / length(second), concatenate=np.concatenate([first, second], 1))
    assert set(fused) == set(FLIP_RULES)
    for flip, vectors in fused.items():
        expected = [by_loop(vectors[a], vectors[b]) for a, b in pairs]
        np.testing.assert_allclose(cosine(plain, pairs, mirrored, flip), expected, rtol=0, atol=1e-15)


def test_a_short_embedding_has_a_direction():
    vectors = np.float32([[1e-20, 0], [3, 0], [0, 1]])  # its square underflows in float32
    np.testing.assert_array_equal(cosine(vectors, [[0, 1], [0, 2]]), [1, 0])


@pytest.mark.parametrize('value, says', [(np.nan, 'is not finite'), (np.inf, 'is not finite'), (0, 'has the length 0'),
                                         (1e-30, 'norm underflows in float32')])
def test_a_faulty_embedding_is_named(value, says):
    broken = rows()
    broken[1] = value
    for arguments in ((broken, NAMES), (rows(), NAMES, broken, 'add')):
        with pytest.raises(ValueError, match=rf'image 1 \(b.jpg\) .*{says}; so are 1 of 3'):
            EmbeddingRows(*arguments)


def test_views_that_cancel_are_refused():
    with pytest.raises(ValueError, match=r'image 0 \(a.jpg\) has the length 0; so are 3 of 3'):
        EmbeddingRows(rows(), NAMES, -rows(), 'add')


@pytest.mark.parametrize('shape', [(2, 5), (4, 5), (3, )])
def test_embeddings_and_images_are_as_many(shape):
    with pytest.raises(ValueError, match=r'3 images need embeddings \[3, D\]'):
        EmbeddingRows(np.ones(shape), NAMES)


@pytest.mark.parametrize('rule, mirrored, says', [
    ('add', None, 'are absent'), (None, rows(1), 'are given'), ('add', rows(1)[:2], 'got shape'),
])
def test_a_flip_needs_mirrored_embeddings_and_they_need_a_flip(rule, mirrored, says):
    with pytest.raises(ValueError, match=says):
        EmbeddingRows(rows(), NAMES, mirrored, rule)

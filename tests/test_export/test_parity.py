"""The comparison that decides whether an exported file is kept."""
import math

import numpy as np
import pytest

from mmface.export import PRECISIONS, ParityError
from mmface.export.parity import check_parity

WEIGHT = np.random.default_rng(0).normal(size=(2 * 2 * 3, 4))
IMAGES = np.random.default_rng(1).integers(0, 256, (10, 2, 2, 3), np.uint8)


def source(images):
    return [images.reshape(len(images), -1) @ WEIGHT]


def test_equal_networks_differ_by_nothing():
    check = check_parity(source, source, IMAGES, 7, 'given')
    assert (check.max_relative_difference, check.images, check.batch, check.problem) == (0, 10, 7, '')


@pytest.mark.parametrize('batch', [1, 7])
def test_the_difference_is_relative_to_the_largest_entry_and_the_worst_image_counts(batch):

    def candidate(images):
        embeddings, = source(images)
        sixth = (images == IMAGES[5]).all((1, 2, 3))
        embeddings[sixth, 2] += 3e-3 * np.abs(source(IMAGES[5:6])[0]).max()
        return [embeddings]

    assert check_parity(candidate, source, IMAGES, batch, 'given').max_relative_difference == pytest.approx(3e-3)


def test_every_batch_has_exactly_the_size_asked_for():
    sizes = []
    check_parity(lambda images: sizes.append(len(images)) or source(images), source, IMAGES, 7, 'given')
    assert sizes == [7, 7]


def test_a_red_blue_swap_shows():
    assert check_parity(lambda images: source(images[..., ::-1]), source, IMAGES, 1, 'given').max_relative_difference > .1


def not_running(images):
    raise RuntimeError('no such operator\nat node 7')


@pytest.mark.parametrize('candidate, words', [
    (lambda images: [source(images)[0][:1]], r'shapes \[\(1, 4\)\], expected \[\(7, 4\)\]'),
    (lambda images: [source(images)[0].T], r'shapes \[\(4, 7\)\], expected \[\(7, 4\)\]'),
    (lambda images: [source(images)[0] * np.nan], 'not finite'),
    (not_running, 'does not run: no such operator'),
])
def test_wrong_shapes_nan_and_files_that_do_not_run_differ_without_bound(candidate, words):
    check = check_parity(candidate, source, IMAGES, 7, 'random')
    assert math.isinf(check.max_relative_difference)
    with pytest.raises(ParityError, match=words):
        raise ParityError([check], PRECISIONS['fp32'])


def test_a_source_that_gives_nan_passes_nothing():


    def broken(images):
        return [source(images)[0] * np.nan]

    assert math.isinf(check_parity(broken, broken, IMAGES, 7, 'random').max_relative_difference)


def test_zero_embeddings_are_compared_without_dividing_by_zero():
    assert check_parity(lambda x: [np.zeros((7, 4))], lambda x: [np.zeros((7, 4))], IMAGES, 7, 'random').max_relative_difference == 0
    assert check_parity(lambda x: [np.ones((7, 4))], lambda x: [np.zeros((7, 4))], IMAGES, 7, 'random').max_relative_difference > 1


def test_the_cosine_is_that_of_the_worst_image():

    def turned(images):
        embeddings, = source(images)
        embeddings[0] = -embeddings[0]
        return [embeddings * 3]

    check = check_parity(turned, source, IMAGES, 10, 'given')
    assert check.min_cosine == pytest.approx(-1)
    assert not check.passes(PRECISIONS['int8'])
    assert check_parity(lambda x: [source(x)[0] * 3], source, IMAGES, 10, 'given').passes(PRECISIONS['int8'])  # length is no matter


def test_a_second_output_is_compared_too():
    check = check_parity(lambda x: [*source(x), np.full(7, 1.01)], lambda x: [*source(x), np.ones(7)], IMAGES, 7, 'given')
    assert check.max_relative_difference == pytest.approx(.01)

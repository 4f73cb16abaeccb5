"""Pooling images to templates, against loops."""
import numpy as np
import pytest

from mmface.functional.templates import group_templates, pool_templates

HUGE = 2**62


def some_rows(seed=0, rows=300):
    random = np.random.default_rng(seed)
    template = random.choice([-5, 0, 3, 4, 1000, HUGE], rows)  # any ids, in any order
    return template, random.choice([7, -1, HUGE], rows), random.permutation(rows), random.random(rows)


def images(seed=1):
    return np.random.default_rng(seed).normal(size=(300, 6)).astype(np.float32)


def read(rows, dtype):
    return images()[rows].astype(dtype, copy=False)


def test_rows_are_grouped_by_template_and_medium():
    template, media, image, _ = some_rows()
    groups = group_templates(template, media, image)
    np.testing.assert_array_equal(groups.ids, np.unique(template))
    for at, one in enumerate(groups.ids):
        here = groups.order[groups.start[at]:groups.start[at + 1]]
        np.testing.assert_array_equal(np.sort(here), np.flatnonzero(template == one))
    pairs = list(zip(template[groups.order], media[groups.order], strict=True))
    np.testing.assert_array_equal(groups.media_size, [sum(p == pair for p in pairs) for pair in pairs])
    assert len(groups.media_start) == len(set(pairs)) + 1


def test_a_sum_is_that_of_a_loop():
    template, media, image, weight = some_rows()
    groups = group_templates(template, media, image)
    pooled = pool_templates(read, image, groups, weight[groups.order])
    for one, vector in zip(groups.ids, pooled, strict=True):
        wanted = sum(weight[r] * images()[image[r]].astype(float) for r in range(len(template)) if template[r] == one)
        np.testing.assert_allclose(vector, wanted, rtol=0, atol=1e-12)


def test_unit_media_are_normalised_before_they_are_added():
    template, media, image, weight = some_rows()
    groups = group_templates(template, media, image)
    pooled = pool_templates(read, image, groups, weight[groups.order], unit_media=True)
    for one, vector in zip(groups.ids, pooled, strict=True):
        wanted = np.zeros(6)
        for medium in np.unique(media[template == one]):
            rows = np.flatnonzero((template == one) & (media == medium))
            mean = (weight[rows, None] * images()[image[rows]]).sum(0)
            wanted += mean / np.linalg.norm(mean)
        np.testing.assert_allclose(vector, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize('unit_media', [False, True])
def test_neither_block_nor_order_changes_a_bit(unit_media):
    template, media, image, weight = some_rows()
    groups = group_templates(template, media, image)
    whole = pool_templates(read, image, groups, weight[groups.order], unit_media)
    for block in (1, 7, 100):
        np.testing.assert_array_equal(pool_templates(read, image, groups, weight[groups.order], unit_media, block=block), whole)
    for order in (groups.order, np.random.default_rng(4).permutation(len(image))):  # the first is read as slices
        again = group_templates(template[order], media[order], image[order])
        np.testing.assert_array_equal(pool_templates(read, image[order], again, weight[order][again.order], unit_media), whole)


def test_templates_of_the_same_images_are_equal():
    template, media, image, weight = some_rows()
    copied = template == 3
    template, media, image, weight = (np.append(column, column[copied]) for column in (template, media, image, weight))
    template[-copied.sum():] = 999
    groups = group_templates(template, media, image)
    pooled = pool_templates(read, image, groups, weight[groups.order])
    np.testing.assert_array_equal(*pooled[np.isin(groups.ids, [3, 999])])


def test_float32_sums_are_float32s():
    template, media, image, weight = some_rows()
    groups = group_templates(template, media, image)
    pooled = pool_templates(read, image, groups, weight[groups.order], dtype=np.float32)
    assert pooled.dtype == np.float32
    np.testing.assert_allclose(pooled, pool_templates(read, image, groups, weight[groups.order]), rtol=0, atol=1e-4)


def test_a_medium_without_length_has_no_direction():
    groups = group_templates(np.array([8, 8, 9]), np.array([1, 1, 1]), np.array([0, 0, 1]))
    with pytest.raises(ValueError, match='medium of template 8 has length 0'):
        pool_templates(read, np.array([0, 0, 1]), groups, np.array([1., -1, 1]), unit_media=True)

"""Exact cosines: one value a pair of vectors, however they are made."""
import numpy as np
import pytest

from mmface.functional.cosine import ExactCosine, SingleCosine, float32_error


def unit_rows(count=200, width=512, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, width))
    rows[17] = rows[150]  # a copy far away
    rows[20:60] = 1 + 1e-9 * rows[20:60]  # second parts that all have one sign: their sum is as large as it gets
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize('width', [1, 2, 7, 128, 512])
def test_no_bit_depends_on_the_shape_of_the_product(width):
    operand = ExactCosine.operand(unit_rows(160, width))
    whole = ExactCosine.matrix(operand, operand)
    for n, m in ((1, 20), (7, 160), (160, 3), (64, 65)):
        for i in range(0, 160, n):
            for j in range(0, 160, m):
                np.testing.assert_array_equal(ExactCosine.matrix(operand[i:i + n], operand[j:j + m]), whole[i:i + n, j:j + m])
    n, m = np.indices(whole.shape).reshape(2, -1)
    np.testing.assert_array_equal(ExactCosine.pairs(operand[n], operand[m]), whole.ravel())


def test_the_order_of_the_components_changes_nothing_but_their_rounding_does():
    unit = unit_rows()
    order = np.random.default_rng(1).permutation(512)
    operand, shuffled = ExactCosine.operand(unit), ExactCosine.operand(unit[:, order])
    np.testing.assert_array_equal(ExactCosine.matrix(operand, operand), ExactCosine.matrix(shuffled, shuffled))
    assert not np.array_equal(unit @ unit.T, unit[:, order] @ unit[:, order].T)  # what a plain product gives


def test_equal_vectors_tie_and_pairs_have_no_direction():
    operand = ExactCosine.operand(unit_rows())
    cosine = ExactCosine.matrix(operand, operand)
    np.testing.assert_array_equal(cosine[17], cosine[150])
    assert (np.diag(cosine) == 1).all() and cosine[17, 150] == 1
    np.testing.assert_array_equal(cosine, cosine.T)


@pytest.mark.parametrize('width', [2, 10, 512, 2048])
def test_the_value_is_that_of_extended_precision(width):
    unit = unit_rows(width=width)
    extended = unit.astype(np.longdouble) @ unit.T.astype(np.longdouble)
    operand = ExactCosine.operand(unit)
    np.testing.assert_allclose(ExactCosine.matrix(operand, operand), extended.astype(float), rtol=0, atol=1e-13)


def test_opposite_and_zero_vectors():
    unit = np.array([[0.6, 0.8], [-0.6, -0.8], [0, 0]])
    operand = ExactCosine.operand(unit)
    np.testing.assert_allclose(ExactCosine.matrix(operand, operand), [[1, -1, 0], [-1, 1, 0], [0, 0, 0]], rtol=0, atol=0)


@pytest.mark.parametrize('width', [3, 128, 512])
def test_a_float32_product_keeps_its_bound(width):
    unit = unit_rows(width=width)
    exact, single = ExactCosine.operand(unit), SingleCosine.operand(unit)
    error = np.abs(SingleCosine.matrix(single, single) - ExactCosine.matrix(exact, exact)).max()
    assert 0 < error < float32_error(width)

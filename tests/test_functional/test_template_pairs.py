"""Scores of template pairs, against a loop."""
import numpy as np
import pytest

from mmface.functional.cosine import ExactCosine
from mmface.functional.template_pairs import pair_scores, template_rows

IDS = np.array([-7, 2, 3, 11, 40, 41, 500, 2**40])


def unit_rows():
    rows = np.random.default_rng(0).normal(size=(len(IDS), 12))
    rows[6] = rows[1]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def some_pairs(count=400):
    return np.random.default_rng(1).choice(IDS, (count, 2))


def test_ids_are_looked_up_not_indexed():
    np.testing.assert_array_equal(template_rows(IDS, np.array([[2, -7], [2**40, 4], [2**41, -8]])), [[1, 0], [7, -1], [-1, -1]])


def test_scores_are_those_of_a_loop():
    unit, pairs = unit_rows(), some_pairs()
    wanted = [float(unit[a == IDS][0] @ unit[b == IDS][0]) for a, b in pairs]
    np.testing.assert_allclose(pair_scores(unit, IDS, pairs, None), wanted, rtol=0, atol=1e-13)
    single = pair_scores(unit, IDS, pairs, None, 'float32')
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, wanted, rtol=0, atol=2e-7)


def test_neither_chunk_nor_order_nor_way_changes_a_bit():
    unit, pairs = unit_rows(), some_pairs()
    whole = pair_scores(unit, IDS, pairs, None)  # by a matrix product: 64 scores serve 400 pairs
    for chunk in (1, 3, 50):
        np.testing.assert_array_equal(pair_scores(unit, IDS, pairs, None, chunk=chunk), whole)
    np.testing.assert_array_equal(pair_scores(unit, IDS, pairs[::-1], None)[::-1], whole)
    many = np.random.default_rng(2).normal(size=(3000, 12))
    many /= np.linalg.norm(many, axis=1, keepdims=True)
    few = np.random.default_rng(3).integers(0, 3000, (50, 2))  # row by row
    operand = ExactCosine.operand(many)
    np.testing.assert_array_equal(pair_scores(many, np.arange(3000), few, None), np.diag(ExactCosine.matrix(*operand[few.T])))


def test_an_absent_template_has_the_score_that_was_asked_for_or_none():
    unit, pairs = unit_rows(), some_pairs(20)
    pairs[4, 1] = 999
    scores = pair_scores(unit, IDS, pairs, -np.inf, chunk=3)
    assert np.flatnonzero(np.isneginf(scores)).tolist() == [4]
    np.testing.assert_array_equal(np.delete(scores, 4), pair_scores(unit, IDS, np.delete(pairs, 4, 0), None))
    with pytest.raises(ValueError, match='template 999 of pair 4 has no image'):
        pair_scores(unit, IDS, pairs, None, chunk=3)
    np.testing.assert_array_equal(pair_scores(unit, IDS, np.full((3, 2), 999), 0.), np.zeros(3))

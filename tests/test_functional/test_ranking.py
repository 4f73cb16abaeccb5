"""Ranks of mates, against sorting nothing and counting everything."""
import numpy as np
import pytest

from mmface.functional.cosine import ExactCosine
from mmface.functional.cosine_block import cosine_blocks
from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.highest_scores import HighestScores
from mmface.functional.ranking import Ranking, cumulative_matches, find_mates, first_mates, rank_mates
from mmface.functional.rows import UnitRows


def search(seed=0, spread=1.):
    """Probes with several mates or none, copies of other people among the gallery, everything shuffled."""
    random = np.random.default_rng(seed)
    gallery = (1 - spread + spread * random.normal(size=(200, 8))).astype(np.float32)
    ids = random.integers(0, 25, 200)
    gallery[100:140] = gallery[:40]
    probes = gallery[random.integers(0, 200, 30)] + np.float32(0.05 * spread) * random.normal(size=(30, 8)).astype(np.float32)
    unit = probes.astype(float) / np.linalg.norm(probes.astype(float), axis=1, keepdims=True)
    return unit, EmbeddingRows(gallery, range(200)), random.permutation(200), random.integers(0, 30, 30), ids


def brute_force(unit, rows, index, mates):
    cosine = ExactCosine.matrix(ExactCosine.operand(unit), ExactCosine.operand(rows.unit(index)))
    is_mate = np.zeros(cosine.shape, bool)
    is_mate[mates.probe, mates.gallery] = True
    others = [[c for c, m in zip(cosine[q], is_mate[q], strict=True) if not m] for q in range(len(unit))]
    score = cosine[mates.probe, mates.gallery]
    return Ranking(score, np.array([sum(c > s for c in others[q]) for q, s in zip(mates.probe, score, strict=True)]),
                   np.array([sum(c == s for c in others[q]) for q, s in zip(mates.probe, score, strict=True)]),
                   np.array([max(row) for row in others]))


@pytest.mark.parametrize('block', [{}, dict(probes=7, gallery=13), dict(gallery=1), dict(probes=1)])
@pytest.mark.parametrize('spread', [1, 1e-4], ids=['spread out', 'collapsed'])  # collapsed: everything is within the error of float32
def test_counts_and_scores_are_those_of_brute_force(spread, block):
    unit, rows, index, probe_id, gallery_id = search(spread=spread)
    mates = find_mates(probe_id, gallery_id[index])
    found, wanted = rank_mates(unit, rows, index, mates, **block), brute_force(unit, rows, index, mates)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.tied.any()


def test_mates_are_all_pairs_of_one_id():
    probe_id, gallery_id = np.array([5, 1, 9]), np.array([1, 5, 1, 2, 5])
    assert list(zip(*find_mates(probe_id, gallery_id), strict=True)) == [(0, 1), (0, 4), (1, 0), (1, 2)]


def test_the_first_mate_is_the_highest_and_ties_stand_before_it():
    unit = np.array([[1., 0], [0, 1]])
    rows = UnitRows(np.array([[0.6, 0.8], [0.8, 0.6], [0.8, 0.6], [0.6, -0.8], [1, 0]]))
    mates = find_mates(np.array([7, 8]), np.array([7, 7, 1, 2, 3]))
    score, rank, tied = first_mates(mates, rank_mates(unit, rows, np.arange(5), mates), 2)
    np.testing.assert_allclose(score, [0.8, -np.inf], rtol=0, atol=1e-15)
    assert (rank.tolist(), tied.tolist()) == ([3, 0], [1, 0])  # behind the copy of itself and the one at 1


def test_the_highest_scores_are_the_head_of_a_sorted_list():
    unit, rows, index, *_ = search()
    cosine = ExactCosine.matrix(ExactCosine.operand(unit), ExactCosine.operand(rows.unit(index)))
    for count in (1, 10, 500, 10**4):
        highest = HighestScores(count)
        for block in cosine_blocks(unit, rows, index, probes=9, gallery=20):
            block.approximate[:, 3] = -np.inf  # left out
            highest.add(block)
        kept = np.delete(cosine, np.arange(3, 200, 20), 1)
        assert highest.seen == kept.size
        np.testing.assert_array_equal(highest.falling(), np.sort(kept.ravel())[::-1][:count])


def test_cumulative_matches_count_the_searches_with_a_mate_within_each_rank():
    found = cumulative_matches(np.array([1, 3, 3, 25]), last=4)
    assert found == dict(cmc_searches=4, cmc_hits=[1, 1, 3, 3])

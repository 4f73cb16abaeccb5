"""Ranks of mates in a gallery of any size, exact to the last tie, without sorting it."""
from typing import NamedTuple

import numpy as np

from .cosine import ExactCosine
from .cosine_block import CosineBlock, cosine_blocks
from .rows import Rows

_PAIRS = 256  #: at a time: they stay in cache


class Mates(NamedTuple):
    """N pairs of a probe and a gallery row of one person, by rising probe: ``probe`` [N] and ``gallery`` [N], both int64 and from 0."""
    probe: np.ndarray
    gallery: np.ndarray


class Ranking(NamedTuple):
    """What Q searches found. A mate's competitors are the gallery rows of other people: its mates do not push it back.

    Attributes:
        score: float64 [N], the cosine of each pair of mates.
        above: int64 [N], how many competitors score higher.
        tied: int64 [N], how many score the same.
        other: float64 [Q], the highest score of a competitor; -inf where there is none.
    """
    score: np.ndarray
    above: np.ndarray
    tied: np.ndarray
    other: np.ndarray


def find_mates(probe_id: np.ndarray, gallery_id: np.ndarray) -> Mates:
    """All pairs with one id, from int64 [Q] and [G]; in the order of the gallery for each probe."""
    order = np.argsort(gallery_id, kind='stable')
    first, last = (np.searchsorted(gallery_id[order], probe_id, side) for side in ('left', 'right'))
    count = last - first
    probe = np.repeat(np.arange(len(probe_id)), count)
    within = np.arange(len(probe)) - np.repeat(np.cumsum(count) - count, count)
    return Mates(probe, order[first[probe] + within])


def rank_mates(unit: np.ndarray, rows: Rows, index: np.ndarray, mates: Mates, **block: int) -> Ranking:
    """Compares every mate with every competitor.

    Scores are exact cosines (:class:`~mmface.functional.cosine.ExactCosine`), so that nothing depends on the size of the blocks, on the
    order of the gallery or on the number of threads; most are settled by a float32 product, whose error is bounded.

    Args:
        unit: float64 [Q, D], unit probes.
        rows: where the gallery is; read a block at a time.
        index: int64 [G], the gallery among ``rows``.
        mates: pairs of probes and gallery rows.
        block: sizes, see :func:`~mmface.functional.cosine_block.cosine_blocks`.
    """
    score = _mate_scores(unit, rows, index, mates)
    found = Ranking(score, np.zeros(len(score), np.int64), np.zeros(len(score), np.int64), np.full(len(unit), -np.inf))
    for part in cosine_blocks(unit, rows, index, **block):
        here = hide_mates(part, mates)
        raise_others(part, found.other[part.probes])
        _count(part, mates.probe[here] - part.probes.start, score[here], found.above[here], found.tied[here])
    return found


def first_mates(mates: Mates, ranking: Ranking, probes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each of Q probes the mate that scores highest: score, rank and number of ties, [Q].

    The rank is the pessimistic one, from 1: competitors of the same score stand before the mate. -inf, 0 and 0 for a probe without mate.
    """
    score, rank, tied = np.full(probes, -np.inf), np.zeros(probes, np.int64), np.zeros(probes, np.int64)
    order = np.argsort(ranking.score, kind='stable')  # the highest is written last
    at = mates.probe[order]
    score[at], tied[at] = ranking.score[order], ranking.tied[order]
    rank[at] = (1 + ranking.above + ranking.tied)[order]
    return score, rank, tied


def _mate_scores(unit: np.ndarray, rows: Rows, index: np.ndarray, mates: Mates) -> np.ndarray:
    score = np.empty(len(mates.probe))
    for start in range(0, len(score), _PAIRS):
        part = slice(start, start + _PAIRS)
        score[part] = ExactCosine.pairs(
            ExactCosine.operand(unit[mates.probe[part]]), ExactCosine.operand(rows.unit(index[mates.gallery[part]])))
    return score


def hide_mates(part: CosineBlock, mates: Mates) -> slice:
    """Writes -inf over the cosines of mates in a block; returns which of ``mates`` are those of its probes."""
    here = slice(*np.searchsorted(mates.probe, (part.probes.start, part.probes.stop)))
    probe, gallery = mates.probe[here] - part.probes.start, mates.gallery[here] - part.gallery.start
    inside = (gallery >= 0) & (gallery < part.approximate.shape[1])
    part.approximate[probe[inside], gallery[inside]] = -np.inf
    return here


def raise_others(part: CosineBlock, other: np.ndarray) -> None:
    """Raises each probe's highest score so far, float64 [n], in place, to that of the block where it is higher."""
    highest = part.approximate.max(1, initial=-np.inf)
    bar = np.maximum(highest - 2 * part.error, other.astype(np.float32) - part.error)
    probe = np.flatnonzero((highest >= bar) & (highest > -np.inf))
    n, m = part.places(part.approximate[probe] >= bar[probe, None])
    np.maximum.at(other, probe[n], part.exact(probe[n], m))


def _count(part: CosineBlock, probe: np.ndarray, score: np.ndarray, above: np.ndarray, tied: np.ndarray) -> None:
    """Adds to ``above`` and ``tied`` [k], in place, the block's competitors of k mates with their ``score``, of rising ``probe`` [k]."""
    order = np.arange(len(probe)) - np.searchsorted(probe, probe)  # of a mate among those of its probe
    for turn in range(int(order.max(initial=-1)) + 1):
        at = np.flatnonzero(order == turn)
        n, threshold = probe[at], score[at].astype(np.float32)[:, None]
        cosine = part.approximate if len(at) == len(part.approximate) else part.approximate[n]
        surely, maybe = cosine > threshold + part.error, cosine >= threshold - part.error
        maybe ^= surely
        above[at] += surely.view(np.uint8).sum(1, dtype=np.uint32)
        k, m = part.places(maybe)
        exact, wanted = part.exact(n[k], m), score[at][k]
        above[at] += np.bincount(k[exact > wanted], minlength=len(at))
        tied[at] += np.bincount(k[exact == wanted], minlength=len(at))


def cumulative_matches(rank: np.ndarray, last: int = 20) -> dict:
    """The cumulative match characteristic in counts: ``cmc_searches`` and ``cmc_hits``, how many have a mate within rank 1 ... ``last``.

    Args:
        rank: [Q] ranks of the first mates, from 1.
        last: the last rank.
    """
    return dict(cmc_searches=len(rank), cmc_hits=[int((rank <= r).sum()) for r in range(1, last + 1)])

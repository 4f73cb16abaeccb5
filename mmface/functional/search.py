"""One-to-many search: the k most similar gallery rows of each probe, in a gallery that may be larger than memory."""
from typing import NamedTuple

import numpy as np

from .cosine_block import CosineBlock, cosine_blocks
from .rows import Rows

_MANY = 8  #: k times this many new candidates a probe and block: then a selection in each row thins them out first


class Found(NamedTuple):
    """``similarity`` float64 and ``row`` int64, both [Q, k], most similar first, of equals the lowest row; fewer rows are -inf and -1."""
    similarity: np.ndarray
    row: np.ndarray


def search(unit: np.ndarray, rows: Rows, k: int, index: np.ndarray | None = None, probes: int = 1024, gallery: int = 8192) -> Found:
    """The k nearest by exact cosine, which neither block sizes nor the number of threads change.

    A float32 product finds the candidates, fewer than twenty times k a probe where the gallery is in no order; its error is bounded, and
    their cosines are made exactly (:class:`~mmface.functional.cosine.ExactCosine`). Nothing is sorted but them.

    Args:
        unit: float64 [Q, D], unit probes.
        rows: where the gallery is, such as :class:`~mmface.functional.embedding_rows.EmbeddingRows` over a memory-mapped file; read once
            for every ``probes`` probes.
        k: how many to find.
        index: int64 [G], the gallery among ``rows``, and what ``row`` counts; by default all rows.
        probes: at a time.
        gallery: rows at a time.
    """
    index = np.arange(len(rows.norm)) if index is None else index
    found = Found(np.full((len(unit), k), -np.inf), np.full((len(unit), k), -1))
    for block in cosine_blocks(unit, rows, index, probes, gallery):
        here = Found(*(field[block.probes] for field in found))
        n, m = _candidates(block, here.similarity[:, -1], k)
        _merge(here, n, m + block.gallery.start, block.exact(n, m))
    return found


def _candidates(block: CosineBlock, lowest: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of a block that may be among the k best, given each probe's k-th best so far."""
    cosine = block.approximate
    bar = lowest.astype(np.float32)[:, None] - block.error
    n, m = block.places(cosine >= bar)
    if len(n) > _MANY * k * len(cosine) and k < cosine.shape[1]:
        best = np.partition(cosine, cosine.shape[1] - k, axis=1)[:, -k, None]
        n, m = block.places(cosine >= np.maximum(bar, best - 2 * block.error))
    return n, m


def _merge(found: Found, n: np.ndarray, row: np.ndarray, similarity: np.ndarray) -> None:
    """Puts candidates, of rising probe, among what was found before, in place."""
    k = found.row.shape[1]
    probes, of_candidate = np.unique(n, return_inverse=True)
    probe = np.append(np.repeat(np.arange(len(probes)), k), of_candidate)
    similarity, row = np.append(found.similarity[probes], similarity), np.append(found.row[probes], row)
    order = np.lexsort((row, -similarity, probe))
    count = np.bincount(probe)
    place = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    best = order[place < k].reshape(-1, k)
    found.similarity[probes], found.row[probes] = similarity[best], row[best]

"""The cosines of pairs of images."""
import numpy as np
from numpy.typing import DTypeLike

from .embedding_rows import EmbeddingRows

BLOCK = 128  #: rows at a time: they stay in a processor's cache


def pair_similarity(rows: EmbeddingRows, pairs: np.ndarray, dtype: DTypeLike = np.float64, block: int = BLOCK) -> np.ndarray:
    """The cosines of pairs, float64 [N] in [-1, 1]; the squared distance of the unit vectors is 2 - 2 cosine.

    Memory beyond the embeddings grows with M + N, not with D, and no bit depends on ``block``. Equal rows have cosine 1 exactly. Every row
    is read as often as it is in a pair, or once; so ``rows`` need not have been checked before.

    Args:
        rows: M embeddings.
        pairs: int [N, 2], rows to compare.
        dtype: of products and sums, float64, or float32 (twice as fast, off by some 1e-7).
        block: rows at a time.

    Raises:
        ValueError: a row of ``rows`` that is not finite or has no length; names the image.
    """
    dots, square = np.empty(len(pairs)), np.full(len(rows), np.nan)
    left_out = np.ones(len(rows), bool)
    left_out[pairs] = False
    for at in _blocks(len(pairs), block):
        first, second = (rows.read(side, dtype) for side in pairs[at].T)
        dots[at] = _dots(first, second)
        square[pairs[at, 0]], square[pairs[at, 1]] = _dots(first, first), _dots(second, second)
    rest = np.flatnonzero(left_out)
    for at in _blocks(len(rest), block):
        alone = rows.read(rest[at], dtype)
        square[rest[at]] = _dots(alone, alone)
    rows.checked_norms(np.sqrt(square))
    # The root of a square is exact, so that a row and its copy are at 1; the product of two roots is not.
    return np.clip(dots / np.sqrt(square[pairs[:, 0]] * square[pairs[:, 1]]), -1, 1)


def _blocks(length: int, block: int) -> list[slice]:
    return [slice(start, start + block) for start in range(0, length, block)]


def _dots(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.einsum('nd,nd->n', first, second)

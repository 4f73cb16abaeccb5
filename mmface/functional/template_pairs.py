"""The scores of millions of template pairs, of which each template is in many."""
from collections.abc import Iterator

import numpy as np

from .cosine import COSINES, ExactCosine, SingleCosine

_CHUNK = 1 << 20  #: pairs at a time
_CELLS = 1 << 23  #: of a matrix product at most
_WASTE = 32  #: a matrix product may give so many scores for each one that is wanted; then taking rows one by one is faster
_ROWS = 256  #: pairs at a time where rows are taken one by one: they stay in cache


def template_rows(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where in rising ``ids`` [T] the wanted ids are, int64 in the shape of ``wanted``; -1 for those that are not there."""
    rows = np.searchsorted(ids, wanted)
    rows[rows == len(ids)] = 0
    rows[ids[rows] != wanted] = -1
    return rows


def pair_scores(unit: np.ndarray,
                ids: np.ndarray,
                pairs: np.ndarray,
                absent: float | None,
                precision: str = 'float64',
                chunk: int = _CHUNK) -> np.ndarray:
    """The cosines of pairs of templates, float [P] of the precision, in [-1, 1]; memory beyond that does not grow with P.

    With ``'float64'`` the result does not depend on ``chunk``, not in the last bit. Pairs in the order of their first template, as IJB
    lists them, are scored by matrix products; any other order is right as well, and slower.

    Args:
        unit: unit rows [T, D].
        ids: int64 [T], rising.
        pairs: int64 [P, 2], ids.
        absent: the score of a pair with a template that is not in ``ids``, or None where there may be none.
        precision: ``'float64'`` or ``'float32'``.
        chunk: pairs at a time.

    Raises:
        ValueError: with ``absent=None``, for a pair with such a template; names both.
    """
    cosine = COSINES[precision]
    operand = cosine.operand(unit)
    scores = np.empty(len(pairs), precision)
    for start in range(0, len(pairs), chunk):
        rows = template_rows(ids, pairs[start:start + chunk])
        present = (rows >= 0).all(1)
        here = scores[start:start + chunk]
        if present.all():
            _score(cosine, operand, rows, here)
            continue
        if absent is None:
            pair = int(present.argmin())
            lost = pairs[start + pair, int(rows[pair].argmin())]
            raise ValueError(f'template {lost} of pair {start + pair} has no image')
        here[:] = absent
        known = np.empty(int(present.sum()), precision)
        if len(known):
            _score(cosine, operand, rows[present], known)
            here[present] = known
    return scores


def _score(cosine: type[ExactCosine] | type[SingleCosine], operand: np.ndarray, rows: np.ndarray, scores: np.ndarray) -> None:
    (first, at_first), (second, at_second) = (_distinct(rows[:, side], len(operand)) for side in (0, 1))
    if len(first) * len(second) > min(_CELLS, _WASTE * len(rows)):
        for part in _parts(len(rows)):
            scores[part] = cosine.pairs(operand[rows[part, 0]], operand[rows[part, 1]])
        return
    matrix = cosine.matrix(operand[first], operand[second])
    np.take(matrix, at_first * len(second) + at_second, out=scores, mode='clip')


def _distinct(rows: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that occur, rising, and for each entry where it is among them."""
    seen = np.zeros(length, bool)
    seen[rows] = True
    place = np.cumsum(seen)
    return np.flatnonzero(seen), place[rows] - 1


def _parts(length: int) -> Iterator[slice]:
    return (slice(start, start + _ROWS) for start in range(0, length, _ROWS))

"""Cosines of probes with a block of a gallery: a float32 product says which matter, and those are made exactly."""
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from .cosine import ExactCosine, float32_error
from .rows import Rows, as_slice

_PROBES, _GALLERY = 512, 1024  #: of a block: its product stays in a processor's second cache
_FEW = 256  #: exact cosines at a time where they are made one by one: they stay in cache
_MANY = 32  #: one in so many exact cosines wanted of a block: then a product of all is faster


class CosineBlock:
    """The cosines of n probes with m gallery rows.

    Attributes:
        probes: the slice of the probes.
        gallery: the slice of the gallery.
        approximate: float32 [n, m], off by no more than ``error``; its users may write -inf over what is to be left out.
        error: of the approximate cosines and of a float32 threshold together.
    """

    def __init__(self, probes: slice, gallery: slice, unit: np.ndarray, operand: np.ndarray, rows: Rows, index: np.ndarray) -> None:
        self.probes, self.gallery = probes, gallery
        self._operand, self._rows, self._index = operand, rows, index
        self.approximate = unit @ rows.read(as_slice(index), np.float32).T
        self.approximate /= rows.norm[index].astype(np.float32)
        self.error = np.float32(float32_error(unit.shape[1]))

    def exact(self, n: np.ndarray, m: np.ndarray) -> np.ndarray:
        """The cosines at places (n, m), float64, by :class:`~mmface.functional.cosine.ExactCosine`."""
        if len(n) * _MANY > self.approximate.size:
            return self._matrix[n, m]
        parts = [slice(start, start + _FEW) for start in range(0, len(n), _FEW)]
        return np.concatenate([np.empty(0)] + [
            ExactCosine.pairs(self._operand[n[part]], ExactCosine.operand(self._rows.unit(self._index[m[part]])))
            for part in parts])

    @staticmethod
    def places(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where a mask [n, m] holds, as :func:`numpy.nonzero` has it, in a fraction of the time."""
        return np.divmod(np.flatnonzero(mask), mask.shape[1])

    @cached_property
    def _matrix(self) -> np.ndarray:
        return ExactCosine.matrix(self._operand, ExactCosine.operand(self._rows.unit(self._index)))


def cosine_blocks(unit: np.ndarray, rows: Rows, index: np.ndarray, probes: int = _PROBES, gallery: int = _GALLERY) -> Iterator[CosineBlock]:
    """All cosines of unit probes float64 [Q, D] with the gallery ``rows`` at ``index`` [G], a block at a time, probe blocks outermost."""
    for start in range(0, len(unit), probes):
        these = slice(start, min(start + probes, len(unit)))
        single, operand = unit[these].astype(np.float32), ExactCosine.operand(unit[these])
        for first in range(0, len(index), gallery):
            those = slice(first, min(first + gallery, len(index)))
            yield CosineBlock(these, those, single, operand, rows, index[those])

"""Vectors that are read a block of rows at a time."""
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike


class Rows(Protocol):
    """Vectors with their lengths, such as :class:`~mmface.functional.embedding_rows.EmbeddingRows`."""
    norm: np.ndarray

    def read(self, rows: slice | np.ndarray, dtype: DTypeLike) -> np.ndarray:
        """Rows as they are."""

    def unit(self, rows: slice | np.ndarray) -> np.ndarray:
        """Rows of length 1, float64."""


class UnitRows:
    """Rows of length 1 (or 0) that are in memory, [N, D], as :class:`Rows`."""

    def __init__(self, unit: np.ndarray) -> None:
        self._unit, self.norm = unit, np.ones(len(unit))

    def read(self, rows: slice | np.ndarray, dtype: DTypeLike) -> np.ndarray:
        return self._unit[rows].astype(dtype, copy=False)

    def unit(self, rows: slice | np.ndarray) -> np.ndarray:
        return self._unit[rows].astype(np.float64, copy=False)


def as_slice(index: np.ndarray) -> slice | np.ndarray:
    """The slice that an index of at least one row is, which reads without a copy; else the index."""
    return slice(int(index[0]), int(index[-1]) + 1) if (np.diff(index) == 1).all() else index

"""Products of unit vectors, all of them or some: exact ones in float64, and fast ones in float32.

A matrix product adds in an order that depends on its shape, on the library, on the processor and on the number of threads, so that one and
the same cosine comes out in several values, and equal vectors lose their tie. The exact products here cannot: each component is split
into two numbers so short that every partial sum is a float64 without rounding, in whatever order it is made (K. Ozaki et al., "Error-free
transformations of matrix multiplication by using fast routines of matrix multiplication", Numerical Algorithms 59, 2012).
"""
import numpy as np

#: Of the first part of a component: products are multiples of 2^-52, and sums of them stay below 2 by Cauchy's inequality.
_BITS = 26


class ExactCosine:
    """Three float64 products a cosine; every bit is defined by the two vectors alone, the error is some 1e-14, that of equal vectors 0."""

    @staticmethod
    def operand(unit: np.ndarray) -> np.ndarray:
        """Unit (or zero) rows [n, D] as float64 [n, 2 D + 1]: both parts beside one another, then the square of the length of their sum."""
        d = unit.shape[1]
        parts = np.empty((len(unit), 2 * d + 1))
        first, rest = parts[:, :d], parts[:, d:-1]
        _round(unit, _BITS, first)
        np.subtract(unit, first, out=rest)
        _round(rest, int(52.9 - np.log2(d) / 2), rest)
        square = _dots(first, rest) * 2 + _dots(first, first)
        parts[:, -1] = np.where(square > 0, square, 1)
        return parts

    @staticmethod
    def matrix(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """All cosines of two operands, of n and m rows: float64 [n, m] in [-1, 1]."""
        d = rows.shape[1] // 2
        cosine = rows[:, :d] @ columns[:, d:-1].T
        cosine += rows[:, d:-1] @ columns[:, :d].T
        cosine += rows[:, :d] @ columns[:, :d].T
        length = np.multiply.outer(rows[:, -1], columns[:, -1])
        cosine /= np.sqrt(length, out=length)  # the root of a square is exact
        return np.clip(cosine, -1, 1, out=cosine)

    @staticmethod
    def pairs(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The cosines of row i with row i, float64 [n]; the very numbers that :meth:`matrix` gives."""
        d = rows.shape[1] // 2
        cosine = _dots(rows[:, :d], others[:, d:-1])
        cosine += _dots(rows[:, d:-1], others[:, :d])
        cosine += _dots(rows[:, :d], others[:, :d])
        cosine /= np.sqrt(rows[:, -1] * others[:, -1])
        return np.clip(cosine, -1, 1, out=cosine)


class SingleCosine:
    """One float32 product a cosine, off by some 1e-7; the last digits depend on how the products are grouped."""

    @staticmethod
    def operand(unit: np.ndarray) -> np.ndarray:
        """Unit rows as float32 [n, D]."""
        return unit.astype(np.float32, copy=False)

    @staticmethod
    def matrix(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """All cosines, float32 [n, m]."""
        cosine = rows @ columns.T
        return np.clip(cosine, -1, 1, out=cosine)

    @staticmethod
    def pairs(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The cosines of row i with row i, float32 [n]."""
        cosine = _dots(rows, others)
        return np.clip(cosine, -1, 1, out=cosine)


#: By the dtype that products and sums are made in.
COSINES: dict[str, type[ExactCosine] | type[SingleCosine]] = {'float64': ExactCosine, 'float32': SingleCosine}


def float32_error(width: int) -> float:
    """What a float32 product of unit vectors of that width may be off by, at most, whatever the order of its sum.

    (N. Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1, with the rounding of operands and thresholds.)
    """
    return (width + 16) * 2.**-24


def _round(values: np.ndarray, bits: int, out: np.ndarray) -> None:
    """Rounds numbers below 1 to multiples of 2^-bits: what is added leaves no room for more."""
    room = 1.5 * 2.**(52 - bits)
    np.add(values, room, out=out)
    out -= room


def _dots(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.einsum('nd,nd->n', rows, others)

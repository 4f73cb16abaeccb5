"""Raw embeddings, an image's and its mirror image's made one, read a block of rows at a time: they may be larger than memory."""
from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from .flip_rules import FLIP_RULES

_BLOCK = 1024  #: rows at a time where all are read: they stay in a processor's cache
_SHORTEST, _LONGEST = 2.**-75, 2.**127  #: lengths whose squares, or sums, a float32 cannot hold lie beyond


class EmbeddingRows:
    """M embeddings that all have a direction.

    Attributes:
        norm: float64 [M], the lengths of the rows that :meth:`read` gives.

    Args:
        embeddings: raw float [M, D]; may be memory-mapped, is never copied as a whole.
        names: M names of the images, for errors.
        mirrored: raw [M, D] of the mirrored images, where ``flip`` asks for them.
        flip: a key of :data:`~mmface.functional.flip_rules.FLIP_RULES`, or None for no flip.
        check: whether to look at all rows at once; else ``norm`` is not there, and who reads the rows calls :meth:`checked_norms`.

    Raises:
        ValueError: a wrong shape, a flip without mirrored embeddings or the other way round, or a row (of either kind, or of both
            together) that is not finite or has no length; names the image.
    """

    def __init__(self,
                 embeddings: np.ndarray,
                 names: Sequence[str],
                 mirrored: np.ndarray | None = None,
                 flip: str | None = None,
                 check: bool = True) -> None:
        if (flip is None) != (mirrored is None):
            raise ValueError(f'flip is {flip!r} and mirrored embeddings are {"absent" if mirrored is None else "given"}: '
                             f'give both or neither; the rules are {sorted(FLIP_RULES)}')
        self._fuse = None if flip is None else FLIP_RULES[flip]
        self._views = [np.asarray(view) for view in (embeddings, mirrored) if view is not None]
        for view in self._views:
            if view.ndim != 2 or len(view) != len(names) or view.shape != self._views[0].shape:
                raise ValueError(f'{len(names)} images need embeddings [{len(names)}, D], got shape {view.shape}')
            if not np.issubdtype(view.dtype, np.floating):
                raise ValueError(f'embeddings are floating-point numbers, got {view.dtype}')
        for view in self._views[:0 if flip is None else 2]:  # a fault must not hide in the sum
            EmbeddingRows(view, names)
        self.names = names
        if check:
            self.norm = self.checked_norms(self._norms(len(names)))

    def __len__(self) -> int:
        return len(self._views[0])

    @property
    def width(self) -> int:
        """The number of components of a row that :meth:`read` gives."""
        return self.read(slice(0, 1)).shape[1]

    def read(self, rows: slice | np.ndarray, dtype: DTypeLike = np.float64) -> np.ndarray:
        """Rows as they are compared but for their length, [n, D] (or [n, 2 D]) of the dtype; not to be written to."""
        if self._fuse is None:
            return self._views[0][rows].astype(dtype, copy=False)
        plain, mirrored = (view[rows].astype(np.float64) for view in self._views)
        return self._fuse(plain, mirrored).astype(dtype, copy=False)

    def unit(self, rows: slice | np.ndarray) -> np.ndarray:
        """Rows of length 1, float64."""
        return self.read(rows) * (1 / self.norm[rows])[:, None]

    def _norms(self, length: int) -> np.ndarray:
        squares = np.empty(length)
        for start in range(0, length, _BLOCK):
            part = self.read(slice(start, start + _BLOCK))
            np.einsum('nd,nd->n', part, part, out=squares[start:start + _BLOCK])
        return np.sqrt(squares)

    def checked_norms(self, norm: np.ndarray) -> np.ndarray:
        """The lengths of all rows, [M], which are returned; raises ``ValueError`` as the class says."""
        for broken, what in ((~np.isfinite(norm), 'is not finite'), (norm == 0, 'has the length 0'),
                             (norm <= _SHORTEST, 'is so short that its norm underflows in float32'),
                             (norm >= _LONGEST, 'is so long that its sum overflows in float32')):
            rows = np.flatnonzero(broken)
            if rows.size:
                raise ValueError(f'the embedding of image {rows[0]} ({self.names[rows[0]]}) {what}; so are {rows.size} of {len(norm)}')
        return norm

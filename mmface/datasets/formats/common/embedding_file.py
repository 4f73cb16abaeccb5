"""What a file of embeddings holds."""
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import numpy as np

from ..errors import DataFormatError

_SHOWN = 5


@dataclass(frozen=True)
class EmbeddingFile:
    """N embeddings of a file, raw as stored.

    Attributes:
        path: the file.
        embeddings: float32 (float64 where the file has it) ``[N, D]``.
        mirrored: likewise, those of the mirrored images, or None.
        names: N names of the images, or None where only their order says which is which.
    """
    path: Path
    embeddings: np.ndarray
    mirrored: np.ndarray | None = None
    names: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.embeddings)

    def in_order_of(self, paths: Sequence[str]) -> 'EmbeddingFile':
        """One row for each of M images: by name where the file has names, which are ends of the paths, else as they stand.

        Raises:
            DataFormatError: another number of rows than images, a name that occurs twice or that two images end in, an image without row.
        """
        if self.names is None:
            if len(self) != len(paths):
                raise DataFormatError(self.path, value=f'{len(self)} rows',
                                  hint=f'there are {len(paths)} images, and no names say which is which')
            return self
        rows = self._rows_of(paths, self.names)
        mirrored = None if self.mirrored is None else self.mirrored[rows]
        return EmbeddingFile(self.path, self.embeddings[rows], mirrored, [self.names[row] for row in rows])

    def _rows_of(self, paths: Sequence[str], names: Sequence[str]) -> list[int]:
        row_of: dict[str, int] = {}
        for at, name in enumerate(names):
            if row_of.setdefault(name, at) != at:
                raise DataFormatError(self.path, f'rows {row_of[name]} and {at}', f'one name, {name}')
        taken: dict[int, str] = {}
        rows: list[int] = []
        missing: list[str] = []
        for path in paths:
            parts = PurePath(path).as_posix().split('/')
            ends = ('/'.join(parts[at:]) for at in range(len(parts)))
            row = next((row_of[end] for end in ends if end in row_of), None)
            if row is None:
                missing.append(path)
                continue
            if taken.setdefault(row, path) != path:
                raise DataFormatError(self.path, f'row {row}', f'name {names[row]}', f'{taken[row]} and {path} both end so')
            rows.append(row)
        if missing:
            raise DataFormatError(self.path, value=f'{len(missing)} of {len(paths)} images have no row',
                                  hint=', '.join(missing[:_SHOWN]) + ' ...' * (len(missing) > _SHOWN))
        return rows

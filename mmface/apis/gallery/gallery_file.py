"""The file of a gallery: one ``.npz``, replaced whole, readable by its owner alone."""
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

_SCHEMA = 1
_WAIT = 30  # seconds for another process to finish
_ZEROS = bytes(1 << 20)


class GalleryError(ValueError):
    """A gallery that cannot be used, or not with this network; names the file and says what to do."""


@dataclass(frozen=True)
class GalleryRows:
    """What a gallery holds, one row a photo.

    Attributes:
        model_id: of the network that made the embeddings.
        embedding: float32 [N, D], of length 1.
        person: str [N].
        enrolled: datetime64[s] [N], UTC.
        expires: datetime64[s] [N], UTC; NaT for never.
    """
    model_id: str
    embedding: np.ndarray
    person: np.ndarray
    enrolled: np.ndarray
    expires: np.ndarray

    @classmethod
    def none(cls, model_id: str, dim: int) -> 'GalleryRows':
        """An empty gallery."""
        never = np.empty(0, 'datetime64[s]')
        return cls(model_id, np.empty((0, dim), np.float32), np.empty(0, np.str_), never, never)

    def __len__(self) -> int:
        return len(self.embedding)

    def take(self, rows: np.ndarray) -> 'GalleryRows':
        """Those rows, by number or by a mask."""
        return GalleryRows(self.model_id, *(getattr(self, name)[rows] for name in _COLUMNS))

    def join(self, other: 'GalleryRows') -> 'GalleryRows':
        """These rows and others of the same network."""
        return GalleryRows(self.model_id, *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in _COLUMNS))


_COLUMNS = [field.name for field in fields(GalleryRows) if field.name != 'model_id']


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds off other processes that change the gallery, and wipes what one that was killed has left.

    Raises:
        GalleryError: no such folder, or another process holds it for half a minute.
    """
    if not path.parent.is_dir():
        raise GalleryError(f'{path}: there is no folder {path.parent}')
    try:
        with FileLock(path.with_name(f'.{path.name}.lock'), timeout=_WAIT, mode=0o600):
            for left in path.parent.glob(f'.{path.name}.*.tmp'):
                _wipe(left)
                left.unlink()
            yield
    except Timeout as error:
        raise GalleryError(f'{path}: another process has been changing it for {_WAIT} s; try again when it is done') from error


def read_rows(path: Path) -> GalleryRows:
    """Reads a gallery.

    Raises:
        GalleryError: no such file, not a gallery, damaged, or of another schema.
    """
    if not path.is_file():
        raise GalleryError(f'{path}: there is no such gallery; "enroll" makes one')
    try:
        with np.load(path, allow_pickle=False) as arrays:
            schema, model_id = int(arrays['schema']), str(arrays['model_id'])
            columns = [arrays[name] for name in _COLUMNS]
    except Exception as error:  # zipfile and NumPy raise a dozen classes for a damaged file
        raise GalleryError(f'{path}: not a gallery, or damaged ({error})') from error
    if schema != _SCHEMA:
        raise GalleryError(f'{path}: a gallery of the schema {schema}, this version reads {_SCHEMA}: update mmface')
    rows = GalleryRows(model_id, *columns)
    if rows.embedding.ndim != 2 or any(len(column) != len(rows) for column in columns) or not np.isfinite(rows.embedding).all():
        raise GalleryError(f'{path}: damaged: its columns do not fit each other, or embeddings are not finite')
    return rows


def write_rows(path: Path, rows: GalleryRows) -> None:
    """Replaces the gallery in one step, then overwrites the bytes of the file that was there, so that what was removed is gone from disk.

    Mode 0600 from the first byte on. A file system that writes to new places (copy-on-write, snapshots, the flash of an SSD) may keep old
    ones in spite of that.
    """
    buffer = io.BytesIO()
    np.savez(buffer, schema=np.int64(_SCHEMA), model_id=np.str_(rows.model_id), **{name: getattr(rows, name) for name in _COLUMNS})
    temporary = path.with_name(f'.{path.name}.{os.getpid()}.tmp')
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'wb') as file:
        file.write(buffer.getbuffer())
        file.flush()
        os.fsync(file.fileno())
    before = path.open('r+b') if path.exists() else None
    temporary.replace(path)
    if before is not None:
        with before:
            _overwrite(before)


def _wipe(path: Path) -> None:
    with path.open('r+b') as file:
        _overwrite(file)


def _overwrite(file: io.BufferedRandom) -> None:
    left = file.seek(0, os.SEEK_END)
    file.seek(0)
    while left > 0:
        left -= file.write(_ZEROS[:left])
    file.flush()
    os.fsync(file.fileno())

"""What a pass over a large set found, kept in the user's cache folder, so that the next start needs none."""
import hashlib
import json
import os
import time
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from mmface.utils.atomic_file import atomic_file
from mmface.utils.cache_folder import cache_folder

from ..errors import is_collecting

_LEAST = 100_000  # images; smaller sets are looked through in no time
_KNOWN = 'known'
_CLOCK_TICK = 5e7  # nanoseconds: a file may change again within it and keep its time


def cached_columns(what: str, files: Sequence[Path], build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The columns of a set, from the cache where its files have the same paths, sizes and times of change, else from ``build``.

    Args:
        what: the format, and every option that the columns depend on.
        files: those that decide about the columns.
        build: makes the columns; what it raises or warns of is said only when it is called.

    Returns:
        name -> array.
    """
    if is_collecting():
        return build()
    changed = max(file.stat().st_mtime_ns for file in files)
    known = json.dumps([what, *([str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in files)])
    entry = cache_folder() / 'columns' / f'{hashlib.sha256(known.encode()).hexdigest()[:32]}.npz'
    columns = _load(entry, known)
    if columns is None:
        columns = build()
        if max(map(len, columns.values())) >= _LEAST and time.time_ns() - changed > _CLOCK_TICK:
            _store(entry, known, columns)
    return columns


def _load(entry: Path, known: str) -> dict[str, np.ndarray] | None:
    """None where there is no entry, or a damaged one: the archive has checksums."""
    with suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile), np.load(entry, allow_pickle=False) as archive:
        if str(archive[_KNOWN]) == known:
            return {name: archive[name] for name in archive.files if name != _KNOWN}
    return None


def _store(entry: Path, known: str, columns: dict[str, np.ndarray]) -> None:
    """Keeps the columns if it can, and forgets those of files that are gone."""
    with suppress(OSError):
        with atomic_file(entry) as file:
            np.savez(file, **{_KNOWN: np.array(known)}, **columns)  # type: ignore[arg-type]
        for other in entry.parent.glob('*.npz'):
            with suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile), np.load(other, allow_pickle=False) as archive:
                if not all(os.path.exists(path) for path, *_ in json.loads(str(archive[_KNOWN]))[1:]):
                    other.unlink()

"""What is known of the records of large sets, kept in the user's cache folder: no second pass over a file of hundreds of gigabytes.

An entry is a file with a head of fixed size, JSON, and the columns of the :class:`ImageTable` behind it, to be memory-mapped, so that
workers share them. It is used only for a ``.rec`` and ``.idx`` of the same path, size and time of change, and if its checksum is right.
"""
import hashlib
import json
import os
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from mmengine.logging import print_log

from mmface.utils.cache_folder import cache_folder

from .table import ImageTable

_HEAD = 8192
_COLUMNS = dict(keys='<i8', starts='<i8', labels='<i8', sizes='<i4')
_DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(kind) for name, kind in _COLUMNS.items()}
_CLOCK_TICK = 5e7  # nanoseconds: a file may change again within it and keep its time


def identify(rec: Path) -> dict[str, Any]:
    """What an entry must match: path, and size and time of change of the ``.rec`` and of the ``.idx``, where there is one."""
    known: dict[str, Any] = dict(version=1, path=str(rec.resolve()))
    for name, file in (('rec', rec), ('idx', rec.with_suffix('.idx'))):
        known[name] = [file.stat().st_size, file.stat().st_mtime_ns] if file.exists() else None
    return known


def load_table(known: dict[str, Any], verify: bool = True) -> ImageTable | None:
    """The table of the set that :func:`identify` described, its columns memory-mapped; None where there is no entry, or a damaged one.

    Args:
        known: see :func:`identify`.
        verify: whether the checksum is compared; a process that follows another need not.
    """
    file = _entry(known)
    try:
        with file.open('rb') as opened:
            head = json.loads(opened.read(_HEAD))
            if head['known'] != known or opened.seek(0, os.SEEK_END) != _HEAD + head['rows'] * sum(map(_width, _DTYPES)):
                return None
        body: np.ndarray = np.memmap(file, np.uint8, 'r', _HEAD).view(np.ndarray)
        if verify and zlib.crc32(body.data) != head['crc']:
            return None
        columns, at = {}, 0
        for name, dtype in _DTYPES.items():
            end = at + head['rows'] * _width(name)
            columns[name] = body[at:end].view(dtype)
            at = end
        header = head['header']
        return ImageTable(**columns, header=None if header is None else float(header))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def store_table(known: dict[str, Any], table: ImageTable) -> bool:
    """Keeps a table, unless the set has just changed; False where that cannot be done, which is logged and no error."""
    rec, file = Path(known['path']), _entry(known)
    if identify(rec) != known or time.time_ns() - max(known[name][1] for name in ('rec', 'idx') if known[name]) < _CLOCK_TICK:
        return False
    columns = [getattr(table, name).astype(dtype, order='C', copy=False) for name, dtype in _DTYPES.items()]
    crc = 0
    for column in columns:
        crc = zlib.crc32(column.data, crc)
    head = json.dumps(dict(known=known, rows=len(table.keys), header=table.header, crc=crc), ensure_ascii=False).encode()
    temporary = file.with_name(f'.{file.name}.{os.getpid()}.tmp')
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _forget_lost_sets(file.parent)
        with temporary.open('wb') as out:
            out.write(head.ljust(_HEAD))
            for column in columns:
                column.tofile(out)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(file)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        print_log(f'{rec}: its labels are read anew each time, they cannot be kept in {file.parent}: {error}', logger='current')
        return False
    return True


def _entry(known: dict[str, Any]) -> Path:
    return cache_folder() / 'records' / (hashlib.sha256(os.fsencode(known['path'])).hexdigest()[:32] + '.table')


def _width(name: str) -> int:
    return _DTYPES[name].itemsize


def _forget_lost_sets(folder: Path) -> None:
    """Removes the entries of files that are gone."""
    for entry in folder.glob('*.table'):
        with suppress(OSError, ValueError, TypeError, KeyError):
            with entry.open('rb') as opened:
                path = json.loads(opened.read(_HEAD))['known']['path']
            if not os.path.exists(path):
                entry.unlink()

"""MXNet's RecordIO, one record at a time: the readable form that settles what the fast paths find odd.

A frame is ``u32 magic | u32 part flag << 29 | length | payload | zeros up to a multiple of 4``, little-endian. The writer cuts a record
where the magic word stands in it at a multiple of 4 and drops that word, so a record is one frame of flag 0, or frames of flags 1, 2 ...,
3. A record begins with the 24-byte IRHeader ``u32 flag | f32 label | u64 id | u64 id2``; ``flag`` > 0 says that as many f32 labels follow.
"""
import struct
from array import array
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mmface.utils.progress import Progress

from ..errors import DataFormatError

MAGIC = 0xced7230a
MAGIC_BYTES = struct.pack('<I', MAGIC)
FRAME = struct.Struct('<II')
IR_HEADER = struct.Struct('<IfQQ')
MAX_PART = (1 << 29) - 1
_HEAD = struct.Struct('<IIIfQ')  # a frame and the IRHeader up to its id
_REPORTED = 10000

_COPY = 'the file is cut short or damaged: copy it again'
_REBUILD = 'index of another file? Delete the .idx to have it rebuilt'


class Record(NamedTuple):
    """A record taken apart: the IRHeader's ``flag`` and ``id``, ``labels`` float32 ``[max(flag, 1)]``, the image, where the next begins."""
    flag: int
    id: int
    labels: np.ndarray
    body: memoryview
    end: int


def read_record(path: Path, view: memoryview, offset: int, key: int) -> Record:
    """The record at ``offset`` (bytes) of ``view``; path and key are for messages only.

    Raises:
        DataFormatError: for anything but a whole record inside the file.
    """
    payload, end = _join_parts(path, view, offset, key)
    left = len(payload) - IR_HEADER.size
    if left < 0:
        raise DataFormatError(path, f'record {key}', f'{len(payload)} bytes at offset {offset}', 'the header alone needs 24')
    flag, label, ident, _ = IR_HEADER.unpack_from(payload)
    if 4 * flag > left:
        raise DataFormatError(path, f'record {key}', f'claims {flag} labels, {left} bytes left', _COPY)
    labels = np.frombuffer(payload, '<f4', flag, IR_HEADER.size) if flag else np.array([label], '<f4')
    return Record(flag, ident, labels, payload[IR_HEADER.size + 4 * flag:], end)


def _join_parts(path: Path, view: memoryview, offset: int, key: int) -> tuple[memoryview, int]:
    where = f'record {key}'
    flag, payload, at = _read_part(path, view, offset, where)
    if flag == 0:
        return payload, at
    if flag > 1:
        raise DataFormatError(path, where, f'offset {offset} is a continuation part (flag {flag})', _REBUILD)
    parts = [payload]
    while flag != 3:
        if at >= len(view):
            raise DataFormatError(path, where, f'begun at offset {offset} and not closed before the end of the file', _COPY)
        begin = at
        flag, payload, at = _read_part(path, view, begin, where)
        if flag < 2:
            raise DataFormatError(path, where, f'part flag {flag} at offset {begin} inside the record begun at {offset}', _COPY)
        parts.append(payload)
    return memoryview(MAGIC_BYTES.join(parts)), at


def _read_part(path: Path, view: memoryview, at: int, where: str) -> tuple[int, memoryview, int]:
    """The flag and payload of a frame, and the offset of the next."""
    if at % 4:
        raise DataFormatError(path, where, f'offset {at} is no multiple of 4', _REBUILD)
    start = at + FRAME.size
    if start > len(view):
        raise DataFormatError(path, where, f'incomplete frame at offset {at}', _COPY)
    magic, word = FRAME.unpack_from(view, at)
    flag, length = word >> 29, word & MAX_PART
    if magic != MAGIC:
        raise DataFormatError(path, where, f'no record magic at offset {at}', _REBUILD)
    if flag > 3:
        raise DataFormatError(path, where, f'part flag {flag} at offset {at}', f'flags are 0 to 3: {_COPY}')
    if start + length > len(view):
        raise DataFormatError(path, where, f'at offset {at} claims {length} bytes and ends beyond the file of {len(view)}', _COPY)
    return flag, view[start:start + length], start + length + -length % 4


def scan(path: Path, view: memoryview) -> tuple[np.ndarray, np.ndarray]:
    """Walks a file without index; what is inside the records is checked later. Returns keys and offsets, int64 ``[N]``, in file order.

    The keys are the records' own ids where those are unique, else their ranks in the file.
    """
    ids, offsets = array('Q'), array('q')
    at = 0
    with Progress(f'scan of {path.name}', len(view), 'bytes') as progress:
        while at < len(view):
            offsets.append(at)
            magic, word, _, _, ident = _HEAD.unpack_from(view, at) if at + _HEAD.size <= len(view) else (0, 0, 0, 0, 0)
            if magic == MAGIC and IR_HEADER.size <= word <= MAX_PART:
                at += FRAME.size + word + -word % 4
            else:
                _, ident, _, _, at = read_record(path, view, at, len(offsets) - 1)
            ids.append(ident)
            if len(ids) % _REPORTED == 0:
                progress.advance(at - progress.done)
    ordered = np.sort(np.frombuffer(ids, np.uint64))
    unique = bool((ordered[1:] > ordered[:-1]).all()) and ordered[-1] < 1 << 63
    return np.array(ids, np.uint64).astype(np.int64) if unique else np.arange(len(offsets)), np.array(offsets, np.int64)

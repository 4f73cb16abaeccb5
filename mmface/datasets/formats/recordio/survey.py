"""Checks all records of a ``.rec`` at once, without looking at the images."""
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mmface.utils.progress import Progress

from ..errors import DataFormatError, report
from .frames import FRAME, IR_HEADER, MAGIC, MAX_PART, read_record

JOINED = -1
_CHUNK = 1 << 16
_LISTED = 100  # faults a chunk; with more, the file or the index is not what it should be


class Survey(NamedTuple):
    """What is known of N records.

    Attributes:
        starts: int64, the byte where the image begins; of a record in several parts, the byte where the record begins.
        sizes: int32, the bytes of the image; ``JOINED`` for a record in several parts.
        labels: float32, the first label.
        image: bool, False for a header or an identity range: no payload and two or more labels.
    """
    starts: np.ndarray
    sizes: np.ndarray
    labels: np.ndarray
    image: np.ndarray


def survey(path: Path, view: memoryview, keys: np.ndarray, offsets: np.ndarray) -> Survey:
    """Looks at every frame and header, with a few threads: where the file is not in memory, the time goes into waiting for the disk.

    Args:
        path: for messages.
        view: the file.
        keys: for messages, int64 ``[N]``.
        offsets: int64 ``[N]``, ascending, all inside the file. It becomes the result's ``starts``, so that memory is needed once.

    Raises:
        DataFormatError: the first record in the file that is not whole, or that runs into the next. Where somebody collects all faults,
            such records are no images.
    """
    n = len(keys)
    found = Survey(offsets, np.empty(n, np.int32), np.empty(n, np.float32), np.empty(n, bool))
    parts = [slice(at, at + _CHUNK) for at in range(0, n, _CHUNK)]
    limits = [int(offsets[part.stop]) if part.stop < n else len(view) for part in parts]

    def look(part: slice, limit: int) -> list[DataFormatError]:
        return _survey_chunk(path, view, keys[part.start:part.stop + 1], limit, Survey(*(column[part] for column in found)))

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads, Progress(f'labels of {path.name}', n, 'records') as progress:
        for part, faults in zip(parts, threads.map(look, parts, limits), strict=True):
            for fault in faults:
                report(fault)
            progress.advance(min(part.stop, n) - part.start)
    return found


def _survey_chunk(path: Path, view: memoryview, keys: np.ndarray, limit: int, found: Survey) -> list[DataFormatError]:
    """Fills ``found`` and returns what is wrong; ``limit`` is the offset of the record behind, whose key ``keys`` has too.

    Whole records are done together; the others, which are rare or broken, by :func:`read_record`.
    """
    offsets = found.starts.copy()
    words = np.frombuffer(view, '<u4', len(view) // 4)
    at = offsets // 4

    def word(position: int) -> np.ndarray:
        return words[np.minimum(at + position, len(words) - 1)]

    part_and_length = word(1)
    length, flag = (part_and_length & MAX_PART).astype(np.int64), word(2).astype(np.int64)
    header = IR_HEADER.size + 4 * flag
    ends = offsets + FRAME.size + length
    whole = (offsets % 4 == 0) & (word(0) == MAGIC) & (part_and_length >> 29 == 0) & (length >= header) & (ends <= len(view))
    ends += -length % 4
    found.starts[:] = offsets + FRAME.size + header
    found.sizes[:] = np.where(whole, length - header, 0)
    found.labels[:] = np.where(flag == 0, word(3), word(8)).view('<f4')
    faults = []
    for i in np.flatnonzero(~whole).tolist():
        try:
            record = read_record(path, view, int(offsets[i]), int(keys[i]))
        except DataFormatError as fault:
            faults.append(fault)
            ends[i], flag[i] = 0, 2  # for no image, and no second fault
            if len(faults) == _LISTED:
                raise
        else:
            ends[i], flag[i], found.labels[i] = record.end, record.flag, record.labels[0]
            found.starts[i], found.sizes[i] = offsets[i], JOINED if len(record.body) else 0
    found.image[:] = (found.sizes != 0) | (flag < 2)
    return faults + _overlaps(path, keys, offsets, ends, np.append(offsets[1:], limit), len(view))


def _overlaps(path: Path, keys: np.ndarray, offsets: np.ndarray, ends: np.ndarray, following: np.ndarray,
              size: int) -> list[DataFormatError]:
    overlap = np.flatnonzero((ends > following) & (offsets != following) & (following < size))
    return [
        DataFormatError(path, f'record {keys[i]}', f'runs from offset {offsets[i]} to {ends[i]}, into record {keys[i + 1]} '
                        f'at {following[i]}', 'the file or its index is damaged: copy them again') for i in overlap[:_LISTED].tolist()
    ]

"""Checks all records of a ``.rec`` at once, without looking at the images."""
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .errors import DataFormatError
from .recordio_frames import FRAME, IR_HEADER, MAGIC, MAX_PART, read_record

JOINED = -1
_CHUNK = 1 << 20


class Survey(NamedTuple):
    """What is known of N records.

    Attributes:
        starts: int64, the byte where the image begins; of a record in several parts, the byte where the record begins.
        sizes: int32, the bytes of the image; ``JOINED`` for a record in several parts.
        flags: int64, the IRHeader's flag: the number of labels that follow it, 0 for one in the header.
        labels: float32, the first label.
    """
    starts: np.ndarray
    sizes: np.ndarray
    flags: np.ndarray
    labels: np.ndarray


def survey(path: Path, view: memoryview, keys: np.ndarray, offsets: np.ndarray) -> Survey:
    """Looks at every frame and header.

    Args:
        path: for messages.
        view: the file.
        keys: for messages, int64 ``[N]``.
        offsets: int64 ``[N]``, ascending, all inside the file.

    Raises:
        DataFormatError: the first record in the file that is not whole, or that runs into the next.
    """
    n = len(keys)
    found = Survey(np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.float32))
    ends = np.empty(n, np.int64)
    for at in range(0, n, _CHUNK):
        part = slice(at, at + _CHUNK)
        _survey_chunk(path, view, keys[part], offsets[part], Survey(*(column[part] for column in found)), ends[part])
    overlap = np.flatnonzero((ends[:-1] > offsets[1:]) & (offsets[:-1] != offsets[1:]))
    if overlap.size:
        at = int(overlap[0])
        raise DataFormatError(path, f'record {keys[at]}', f'runs from offset {offsets[at]} to {ends[at]}, into record {keys[at + 1]} '
                              f'at {offsets[at + 1]}', 'the file or its index is damaged: copy them again')
    return found


def _survey_chunk(path: Path, view: memoryview, keys: np.ndarray, offsets: np.ndarray, found: Survey, ends: np.ndarray) -> None:
    """Fills ``found`` and ``ends``. Whole records are done together; the others, which are rare or broken, by :func:`read_record`."""
    words = np.frombuffer(view, '<u4', len(view) // 4)
    at = offsets // 4

    def word(position: int) -> np.ndarray:
        return words[np.minimum(at + position, len(words) - 1)]

    part_and_length = word(1)
    length, flag = (part_and_length & MAX_PART).astype(np.int64), word(2).astype(np.int64)
    header = IR_HEADER.size + 4 * flag
    ends[:] = offsets + FRAME.size + length
    whole = (offsets % 4 == 0) & (word(0) == MAGIC) & (part_and_length >> 29 == 0) & (length >= header) & (ends <= len(view))
    ends += -length % 4
    found.flags[:] = flag
    found.starts[:] = offsets + FRAME.size + header
    found.sizes[:] = np.where(whole, length - header, 0)
    found.labels[:] = np.where(flag == 0, word(3), word(8)).view('<f4')
    for i in np.flatnonzero(~whole):
        record = read_record(path, view, int(offsets[i]), int(keys[i]))
        ends[i] = record.end
        found.flags[i], found.labels[i] = record.flag, record.labels[0]
        found.starts[i], found.sizes[i] = offsets[i], JOINED if len(record.body) else 0

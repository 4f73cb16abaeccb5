"""Records and their index as they go to disk, byte for byte what MXNet's ``MXIndexedRecordIO`` writes."""
import os
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from .frames import FRAME, IR_HEADER, MAGIC, MAGIC_BYTES, MAX_PART


def pack_record(labels: float | Sequence[float] | np.ndarray, key: int, image: bytes = b'', id2: int = 0) -> bytes:
    """An IRHeader and what follows it: one number goes into the header, a sequence behind it, both as float32."""
    if np.ndim(labels) == 0:
        return IR_HEADER.pack(0, labels, key, id2) + image
    values = np.asarray(labels, '<f4')
    return IR_HEADER.pack(values.size, 0, key, id2) + values.tobytes() + image


class RecordIOStream:
    """Appends to a ``.rec`` and its ``.idx``.

    Args:
        rec: opened for writing, at the end of what is there.
        idx: likewise.
    """

    def __init__(self, rec: BinaryIO, idx: BinaryIO) -> None:
        self.rec, self.idx = rec, idx
        self._at = rec.tell()

    def write(self, key: int, record: bytes) -> None:
        """Appends a record, cut where it holds the magic word at a multiple of 4.

        Raises:
            ValueError: for a part of 2**29 bytes or more, which the format cannot hold.
        """
        cuts = _aligned_magic(record)
        parts = [record[start:end] for start, end in zip([0, *(cut + 4 for cut in cuts)], [*cuts, len(record)], strict=True)]
        if max(map(len, parts)) > MAX_PART:
            raise ValueError(f'{self.rec.name}: record {key} has {len(record)} bytes, RecordIO holds at most {MAX_PART} in a part')
        self.idx.write(b'%d\t%d\n' % (key, self._at))
        for at, part in enumerate(parts):
            flag = 0 if not cuts else 1 if at == 0 else 3 if at == len(cuts) else 2
            self._at += self.rec.write(FRAME.pack(MAGIC, flag << 29 | len(part)) + part + b'\0' * (-len(part) % 4))

    def write_identities(self, ranges: Sequence[tuple[int, int]], key: int) -> None:
        """Ends a training set as InsightFace does: a record an identity, from ``key`` on, and the header in record 0.

        Args:
            ranges: first key and the key behind the last of each identity's images.
            key: the one behind those of all images.
        """
        for at, ends in enumerate(ranges):
            self.write(key + at, pack_record(ends, key + at))
        self.write(0, pack_record((key, key + len(ranges)), 0, id2=1))

    def sync(self) -> None:
        """What was written is on the disk when this returns."""
        for file in (self.rec, self.idx):
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        self.rec.close()
        self.idx.close()


def _aligned_magic(record: bytes) -> list[int]:
    cuts, at = [], record.find(MAGIC_BYTES)
    while at >= 0:
        if at % 4 == 0:
            cuts.append(at)
        at = record.find(MAGIC_BYTES, at + (4 if at % 4 == 0 else 1))
    return cuts

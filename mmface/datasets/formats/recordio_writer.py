"""Writes indexed RecordIO, byte for byte what MXNet's ``MXIndexedRecordIO`` writes."""
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from .recordio_frames import FRAME, IR_HEADER, MAGIC, MAGIC_BYTES, MAX_PART


def pack_record(labels: float | Sequence[float], key: int, image: bytes = b'', id2: int = 0) -> bytes:
    """An IRHeader and what follows it: one number goes into the header, a sequence behind it, both as float32."""
    if np.ndim(labels) == 0:
        return IR_HEADER.pack(0, labels, key, id2) + image
    values = np.asarray(labels, '<f4')
    return IR_HEADER.pack(values.size, 0, key, id2) + values.tobytes() + image


class RecordIOWriter:
    """Writes ``NAME.rec`` and ``NAME.idx`` under temporary names and gives them their own when closed; a context manager.

    Where the ``with`` block fails, both are removed and whatever was there before stays.

    Args:
        path: the ``.rec``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._temporary = {
            target: target.with_name(f'.{target.name}.{os.getpid()}.tmp')
            for target in (self.path, self.path.with_suffix('.idx'))
        }
        self._rec, self._idx = (temporary.open('wb') for temporary in self._temporary.values())
        self._at = 0

    def write(self, key: int, record: bytes) -> None:
        """Appends a record, cut where it holds the magic word at a multiple of 4.

        Raises:
            ValueError: for a part of 2**29 bytes or more, which the format cannot hold.
        """
        self._idx.write(b'%d\t%d\n' % (key, self._at))
        cuts = _aligned_magic(record)
        parts = [record[start:end] for start, end in zip([0, *(cut + 4 for cut in cuts)], [*cuts, len(record)], strict=True)]
        for at, part in enumerate(parts):
            flag = 0 if not cuts else 1 if at == 0 else 3 if at == len(cuts) else 2
            if len(part) > MAX_PART:
                raise ValueError(f'{self.path}: record {key} has {len(part)} bytes, RecordIO holds at most {MAX_PART}')
            self._at += self._rec.write(FRAME.pack(MAGIC, flag << 29 | len(part)) + part + b'\0' * (-len(part) % 4))

    def close(self) -> None:
        """Puts both files under their names. A stale index goes first, so that no moment shows one beside another set's records."""
        for file in (self._rec, self._idx):
            file.flush()
            os.fsync(file.fileno())
            file.close()
        self.path.with_suffix('.idx').unlink(missing_ok=True)
        for target, temporary in self._temporary.items():
            temporary.replace(target)

    def discard(self) -> None:
        """Removes what was written."""
        self._rec.close()
        self._idx.close()
        for temporary in self._temporary.values():
            temporary.unlink(missing_ok=True)

    def __enter__(self) -> 'RecordIOWriter':  # noqa: PYI034
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


def write_training_set(path: str | Path, identities: Iterable[Iterable[bytes]], size: tuple[int, int] = (112, 112)) -> tuple[int, int]:
    """Writes a training set as InsightFace does: images from key 1, a record an identity, the header in record 0 at the end, ``property``.

    Args:
        path: the ``.rec``; ``.idx`` and ``property`` come beside it.
        identities: the encoded images of class 0, 1, ...; may be generators.
        size: height and width, for ``property``.

    Returns:
        The number of images and of identities.

    Raises:
        ValueError: for an identity without image.
    """
    path, key, ranges = Path(path), 1, []
    with RecordIOWriter(path) as writer:
        for label, images in enumerate(identities):
            first = key
            for image in images:
                writer.write(key, pack_record(label, key, bytes(image)))
                key += 1
            if key == first:
                raise ValueError(f'{path}: class {label} has no image')
            ranges.append((first, key))
        for at, ends in enumerate(ranges):
            writer.write(key + at, pack_record(ends, key + at))
        writer.write(0, pack_record((key, key + len(ranges)), 0, id2=1))
        path.with_name('property').unlink(missing_ok=True)
    _write_text(path.with_name('property'), f'{len(ranges)},{size[0]},{size[1]}\n')
    return key - 1, len(ranges)


def _aligned_magic(record: bytes) -> list[int]:
    cuts, at = [], record.find(MAGIC_BYTES)
    while at >= 0:
        if at % 4 == 0:
            cuts.append(at)
        at = record.find(MAGIC_BYTES, at + (4 if at % 4 == 0 else 1))
    return cuts


def _write_text(path: Path, text: str) -> None:
    temporary = path.with_name(f'.{path.name}.{os.getpid()}.tmp')
    temporary.write_text(text)
    temporary.replace(path)

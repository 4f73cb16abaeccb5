"""Writes ``.bin`` packs of verification pairs that every project's ``pickle.load`` reads."""
import os
import struct
from collections.abc import Iterable
from pathlib import Path

_MAX_BYTES = (1 << 32) - 1
_START = b'\x80\x03]('  # PROTO 3, a list, MARK
_LIST = b'e]('  # APPENDS, the next list, MARK
_END = b'e\x86.'  # APPENDS, TUPLE2, STOP
_FLAG = {True: b'\x88', False: b'\x89'}


def write_pair_pack(path: Path, pairs: Iterable[tuple[bytes, bytes, bool]]) -> int:
    """Writes pairs of encoded images with whether they show one person, one after the other, without keeping the images.

    The file is a pickle of protocol 3: ``([image, image, ...], [same, ...])``, the images ``bytes``. It appears under its name when it is
    whole.

    Returns:
        the number of pairs.

    Raises:
        ValueError: for an empty image, one of 4 GiB or more, or no pairs; nothing is left behind then, nor after any other error.
    """
    temporary = path.with_name(f'.{path.name}.{os.getpid()}.tmp')
    same: list[bool] = []
    try:
        with temporary.open('wb') as file:
            file.write(_START)
            for first, second, alike in pairs:
                for image in (first, second):
                    if not 0 < len(image) <= _MAX_BYTES:
                        raise ValueError(f'pair {len(same)} has an image of {len(image)} bytes')
                    file.write(b'B' + struct.pack('<I', len(image)) + image)  # BINBYTES
                same.append(bool(alike))
            if not same:
                raise ValueError('a pack needs at least one pair')
            file.write(_LIST + b''.join(map(_FLAG.__getitem__, same)) + _END)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
    return len(same)

"""The elements that a MATLAB file of version 5 to 7 is made of: a type, a number of bytes, and these bytes, up to a multiple of eight.

MathWorks, MAT-File Format, https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf.
"""
import struct
import zlib
from collections.abc import Iterator

MAX_BYTES = 1 << 29  #: of a whole file, unpacked
MATRIX = 14
_COMPRESSED = 15
_STEP = 1 << 20


class Elements:
    """A walk over the elements in ``data``.

    Args:
        data: the bytes.
        order: ``'<'`` or ``'>'``, that of the file.
    """

    def __init__(self, data: memoryview, order: str) -> None:
        self.data, self.order, self.at = data, order, 0

    @property
    def left(self) -> int:
        """The bytes that are not walked over yet."""
        return len(self.data) - self.at

    def next(self) -> tuple[int, memoryview]:
        """Type and content of the next element.

        Raises:
            ValueError: where it ends beyond the data.
        """
        if self.left < 8:
            raise ValueError(f'{self.left} bytes where an element begins')
        kind, size = struct.unpack_from(f'{self.order}II', self.data, self.at)
        start, end = self.at + 8, self.at + 8 + size
        if kind >> 16:  # up to four bytes stand where the size would
            kind, size = kind & 0xffff, kind >> 16
            start, end = self.at + 4, self.at + 4 + min(size, 5)
        if end > len(self.data) or (start == self.at + 4 and size > 4):
            raise ValueError(f'an element of {size} bytes ends beyond the file')
        self.at = end if kind == _COMPRESSED else min(self.at + 8 + -(-(end - self.at - 8) // 8) * 8, len(self.data))
        return kind, self.data[start:end]


def matrices(data: memoryview, order: str) -> Iterator[memoryview]:
    """The variables of a file, unpacked where they are packed.

    Args:
        data: what follows the header.
        order: see :class:`Elements`.

    Raises:
        ValueError: for damage, or more than 512 MiB in all.
    """
    elements, total = Elements(data, order), 0
    while elements.left:
        kind, content = elements.next()
        if kind == _COMPRESSED:
            content = _unpack(content, MAX_BYTES - total)
            kind, content = Elements(content, order).next()
        total += len(content)
        if kind != MATRIX or total > MAX_BYTES:
            raise ValueError(f'unpacks to more than {MAX_BYTES} bytes' if kind == MATRIX else f'a variable of type {kind}')
        yield content


def _unpack(packed: memoryview, limit: int) -> memoryview:
    unpacker, unpacked, rest = zlib.decompressobj(), bytearray(), bytes(packed)
    try:
        while rest:
            unpacked += unpacker.decompress(rest, _STEP)
            rest = unpacker.unconsumed_tail
            if len(unpacked) > limit:
                raise ValueError(f'unpacks to more than {MAX_BYTES} bytes')
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not unpacker.eof:
        raise ValueError('packed bytes that end too early')
    return memoryview(bytes(unpacked))

"""What an encoded image says about itself in its first bytes, before anything is decoded."""
import re
import struct
from collections.abc import Callable

Encoded = bytes | bytearray | memoryview

_HEAD = 4096  #: bytes of a file in which every format but JPEG and TIFF has said how large the picture is
_PNM = re.compile(rb'P[1-6]' + 2 * rb'(?:\s|#[^\n]*\n)+([0-9]{1,9})' + rb'\s')
_TIFF_SIZES = {256: 'width', 257: 'height', 322: 'width', 323: 'height'}  # of the picture, and of a tile
_NOT_SIZES = (0xc4, 0xc8, 0xcc)  # among the JPEG markers c0 ... cf: Huffman tables, reserved, arithmetic conditioning
_GARBAGE = 1 << 16


def read_header(data: Encoded) -> tuple[str, int, int] | None:
    """Looks at the content, not at a name.

    Returns:
        The format, and the height and width in pixels that the image claims; None for what begins like no image of a known format.

    Raises:
        ValueError: where the header is cut short or damaged.
    """
    start = bytes(data[:12])
    for beginning, kind, size in _KINDS:
        if start.startswith(beginning):
            if kind == 'WebP' and start[8:] != b'WEBP':
                continue
            try:
                height, width = size(data)
            except (IndexError, OverflowError, struct.error):
                height = width = 0
            if min(height, width) < 1:
                raise ValueError(f'{kind} that cannot be decoded: truncated or damaged in its header')
            return kind, height, width
    return None


def _jpeg(data: Encoded) -> tuple[int, int]:
    at, garbage = 2, 0
    while garbage < _GARBAGE:
        if data[at] != 0xff:  # decoders pass over bytes between segments
            at, garbage = at + 1, garbage + 1
            continue
        marker = data[at + 1]
        if 0xc0 <= marker <= 0xcf and marker not in _NOT_SIZES:
            return data[at + 5] << 8 | data[at + 6], data[at + 7] << 8 | data[at + 8]
        if marker == 0xff:
            at += 1
        elif marker in (0, 1) or 0xd0 <= marker <= 0xd8:
            at += 2
        elif marker in (0xd9, 0xda):  # the end, or pixels, before any size
            return 0, 0
        else:
            at += 2 + max(2, data[at + 2] << 8 | data[at + 3])
    return 0, 0


def _png(data: Encoded) -> tuple[int, int]:
    chunk, width, height = struct.unpack_from('>4sII', data, 12)
    return (height, width) if chunk == b'IHDR' else (0, 0)


def _gif(data: Encoded) -> tuple[int, int]:
    width, height = struct.unpack_from('<HH', data, 6)
    return height, width


def _bmp(data: Encoded) -> tuple[int, int]:
    old = struct.unpack_from('<I', data, 14)[0] == 12
    width, height = struct.unpack_from('<HH' if old else '<ii', data, 18)
    return abs(height), width


def _webp(data: Encoded) -> tuple[int, int]:
    head = bytes(data[12:30])
    chunk = head[:4]
    if chunk == b'VP8X':
        return 1 + int.from_bytes(head[15:18], 'little'), 1 + int.from_bytes(head[12:15], 'little')
    if chunk == b'VP8L':
        bits = struct.unpack_from('<I', head, 9)[0]
        return 1 + (bits >> 14 & 0x3fff), 1 + (bits & 0x3fff)
    width, height = struct.unpack_from('<HH', head, 14)
    return height & 0x3fff, width & 0x3fff


def _tiff(data: Encoded) -> tuple[int, int]:
    order = '<' if data[0] == 0x49 else '>'
    big = struct.unpack_from(order + 'H', data, 2)[0] == 43
    (at, ) = struct.unpack_from(order + ('Q' if big else 'I'), data, 8 if big else 4)
    (entries, ) = struct.unpack_from(order + ('Q' if big else 'H'), data, at)
    step = 20 if big else 12
    at += 8 if big else 2
    largest = dict(height=0, width=0)
    for entry in range(at, at + step * min(entries, 1 << 16), step):
        tag, kind = struct.unpack_from(order + 'HH', data, entry)
        if tag in _TIFF_SIZES:
            form = {3: 'H', 4: 'I', 16: 'Q'}.get(kind, 'I')
            (value, ) = struct.unpack_from(order + form, data, entry + (12 if big else 8))
            largest[_TIFF_SIZES[tag]] = max(largest[_TIFF_SIZES[tag]], value)
    return largest['height'], largest['width']


def _pnm(data: Encoded) -> tuple[int, int]:
    found = _PNM.match(bytes(data[:_HEAD]))
    return (int(found[2]), int(found[1])) if found else (0, 0)


_KINDS: tuple[tuple[bytes, str, Callable[[Encoded], tuple[int, int]]], ...] = (
    (b'\xff\xd8\xff', 'JPEG', _jpeg),
    (b'\x89PNG\r\n\x1a\n', 'PNG', _png),
    (b'RIFF', 'WebP', _webp),
    (b'GIF8', 'GIF', _gif),
    (b'BM', 'BMP', _bmp),
    (b'II*\0', 'TIFF', _tiff),
    (b'MM\0*', 'TIFF', _tiff),
    (b'II+\0', 'TIFF', _tiff),
    (b'MM\0+', 'TIFF', _tiff),
    *((b'P%d' % number, 'PNM', _pnm) for number in range(1, 7)),
)

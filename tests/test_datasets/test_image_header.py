"""The size that a header claims is found before anything is decoded; Pillow is the oracle."""
import io
import struct

import numpy as np
import pytest
from PIL import Image

from mmface.datasets.image_header import read_header

SIZE = (37, 23)  # width, height
ENCODINGS = {
    'JPEG': [dict(), dict(progressive=True), dict(subsampling=0, quality=20, comment=b'\xff\xc0 not a frame ' * 9)],
    'PNG': [dict()],
    'GIF': [dict()],
    'BMP': [dict()],
    'WebP': [dict(), dict(lossless=True), dict(exif=b'Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0')],
    'TIFF': [dict(), dict(compression='tiff_lzw'), dict(big_tiff=True)],
    'PPM': [dict()],
}
CASES = [(kind, mode, options) for kind, all_options in ENCODINGS.items() for options in all_options for mode in ('RGB', 'L')]
CASES += [(kind, '1', {}) for kind in ('PNG', 'GIF', 'BMP', 'TIFF', 'PPM')]


def encode(kind: str, mode: str = 'RGB', size: tuple[int, int] = SIZE, **options) -> bytes:
    file = io.BytesIO()
    Image.effect_noise(size, 50).convert(mode).save(file, kind, **options)
    return file.getvalue()


def answer(data: bytes):
    try:
        return read_header(data)
    except ValueError as error:
        return 'truncated or damaged' if 'truncated or damaged' in str(error) else str(error)


@pytest.mark.parametrize('kind, mode, options', CASES, ids=str)
def test_the_size_is_what_pillow_says(kind, mode, options):
    data = encode(kind, mode, **options)
    oracle = Image.open(io.BytesIO(data))
    assert read_header(data) == ({'PPM': 'PNM'}.get(kind, kind), oracle.height, oracle.width)
    assert read_header(memoryview(data)) == read_header(bytearray(data)) == read_header(data)


def test_a_jpeg_is_read_past_a_thumbnail_filling_bytes_and_garbage():
    data, thumbnail = encode('JPEG'), encode('JPEG', size=(3, 5))
    segment = b'\xff\xe1' + struct.pack('>H', len(thumbnail) + 2) + thumbnail
    assert read_header(data[:2] + segment + b'\xff\xff' + data[3:]) == ('JPEG', 23, 37)
    assert read_header(data[:2] + segment + b'\x00\x07' + data[2:]) == ('JPEG', 23, 37)


@pytest.mark.parametrize('marker', [0xc4, 0xc8, 0xcc, 0xdb, 0xfe])
def test_segments_before_the_frame_are_no_frames(marker):
    data = encode('JPEG')
    segment = b'\xff' + bytes([marker]) + struct.pack('>HBHH', 10, 8, 999, 999) + b'abc'
    assert read_header(data[:2] + segment + data[2:]) == ('JPEG', 23, 37)


def test_pnm_headers_may_have_comments():
    assert read_header(b'P5 # a comment 9 9\n 640\n# and another\n480 255\n') == ('PNM', 480, 640)


def test_a_bmp_from_the_top_and_an_os2_bmp_are_read():
    data = bytearray(encode('BMP'))
    struct.pack_into('<i', data, 22, -23)
    assert read_header(data) == ('BMP', 23, 37)
    assert read_header(b'BM' + bytes(12) + struct.pack('<IHHHH', 12, 37, 23, 1, 24)) == ('BMP', 23, 37)


def test_a_tile_larger_than_the_picture_counts():
    entries = [(256, 37), (257, 23), (322, 100_000), (323, 90_000)]
    data = b'II*\0' + struct.pack('<IH', 8, len(entries)) + b''.join(struct.pack('<HHII', tag, 4, 1, value) for tag, value in entries)
    assert read_header(data) == ('TIFF', 90_000, 100_000)


@pytest.mark.parametrize('kind', ENCODINGS)
def test_a_header_cut_anywhere_is_refused_or_not_known(kind):
    data = encode(kind)
    for end in range(64):
        assert answer(data[:end]) in ('truncated or damaged', None, read_header(data))


@pytest.mark.parametrize('data', [b'', b'hello', b'RIFF\0\0\0\0WAVEfmt ', b'\0\0\0\x18ftypheic', b'P7\nWIDTH 3'])
def test_what_is_no_image_has_no_header(data):
    assert read_header(data) is None


def test_random_bytes_after_a_beginning_are_answered_without_anything_else():
    rng = np.random.default_rng(0)
    for beginning in (b'\xff\xd8\xff', b'\x89PNG\r\n\x1a\n', b'GIF89a', b'BM', b'II*\0', b'MM\0*', b'II+\0', b'P6'):
        for _ in range(200):
            answer(beginning + rng.bytes(int(rng.integers(80))))

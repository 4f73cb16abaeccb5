"""Every kind of image becomes RGB uint8 by one rule; Pillow is the oracle."""
import io
import struct
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps

from mmface.datasets import DataFormatError, DataFormatWarning, DecodeFace
from mmface.datasets.decode import MAX_PIXELS, decode_image

ROTATED = Image.Exif()
ROTATED[0x112] = 6


@pytest.fixture(scope='module')
def picture() -> Image.Image:
    noise = np.random.default_rng(0).integers(0, 256, (5, 4, 3), dtype=np.uint8)
    return Image.fromarray(cv2.resize(noise, (30, 40)))


def encode(image: Image.Image, kind: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize('mode', ['RGB', 'L', 'P', '1'])
@pytest.mark.parametrize('kind', ['PNG', 'BMP', 'GIF', 'WEBP', 'TIFF'])
def test_lossless_pictures_are_what_pillow_sees(picture, mode, kind):
    options = {'WEBP': dict(lossless=True)}.get(kind, {})
    source = picture.convert(mode)
    if kind == 'GIF' and mode == 'RGB':
        source = source.quantize(64)
    data = encode(source, kind, **options)
    assert np.array_equal(decode_image(data), np.asarray(Image.open(io.BytesIO(data)).convert('RGB')))


@pytest.mark.parametrize('mode', ['RGB', 'L', 'CMYK'])
@pytest.mark.parametrize('progressive', [False, True])
def test_jpegs_are_close_to_what_pillow_sees(picture, mode, progressive):
    data = encode(picture.convert(mode), 'JPEG', quality=95, progressive=progressive)
    found, oracle = decode_image(data), np.asarray(Image.open(io.BytesIO(data)).convert('RGB'))
    assert found.shape == (40, 30, 3)
    assert np.abs(found.astype(int) - oracle).max() <= 2
    if mode == 'L':
        assert (found == found[..., :1]).all()


@pytest.mark.parametrize('mode', ['RGBA', 'LA'])
def test_alpha_is_dropped_not_blended(picture, mode):
    opaque = picture.convert(mode[:-1])
    clear = Image.merge(mode, [*opaque.split(), Image.fromarray(np.zeros((40, 30), np.uint8))])
    assert np.array_equal(decode_image(encode(clear, 'PNG')), np.asarray(opaque.convert('RGB')))


@pytest.mark.parametrize('channels', [(), (3, )])
def test_sixteen_bits_are_divided_by_257(channels):
    deep = np.random.default_rng(1).integers(0, 65536, (40, 30, *channels), dtype=np.uint16)
    found = decode_image(cv2.imencode('.png', deep[..., ::-1] if channels else deep)[1].tobytes())
    expected = np.round(deep / 257).astype(np.uint8)
    assert np.array_equal(found, expected if channels else np.repeat(expected[..., None], 3, 2))


@pytest.mark.parametrize('kind, options', [('JPEG', {}), ('PNG', {}), ('WEBP', dict(lossless=True))])
def test_the_exif_orientation_is_ignored(picture, kind, options):
    plain, rotated = (encode(picture, kind, **options, **more) for more in ({}, dict(exif=ROTATED)))
    assert Image.open(io.BytesIO(rotated)).getexif()[0x112] == 6
    assert np.array_equal(decode_image(plain), decode_image(rotated))


@pytest.mark.parametrize('kind, options', [('JPEG', dict(quality=98)), ('PNG', {}), ('WEBP', dict(lossless=True)), ('TIFF', {})])
@pytest.mark.parametrize('orientation', range(1, 9))
def test_upright_follows_the_exif_orientation_as_pillow_does(picture, kind, options, orientation):
    exif = Image.Exif()
    exif[0x112] = orientation
    data = encode(picture, kind, exif=exif, **options)
    oracle = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    found = decode_image(data, upright=True)
    assert found.shape == oracle.shape
    assert np.abs(found.astype(int) - oracle).max() <= 3


@pytest.mark.parametrize('name', ['alpha.png', 'palette.png', 'progressive.jpg'])
def test_the_odd_images_of_the_fixtures_are_read(shared, name):
    path = shared / 'reference/fixtures/adversarial/images' / name
    oracle = np.asarray(Image.open(path).convert('RGB'))
    assert np.abs(decode_image(path.read_bytes()).astype(int) - oracle).max() <= 2


@pytest.mark.parametrize('name, fact', [('truncated.jpg', 'truncated'), ('zero.jpg', 'empty file')])
def test_the_broken_images_of_the_fixtures_are_refused_by_name(shared, name, fact):
    folder = shared / 'reference/fixtures/adversarial/images'
    with pytest.raises(DataFormatError, match=f'{name}: .*{fact}'):
        DecodeFace()(dict(img_bytes=(folder / name).read_bytes(), path=folder, where=name))


@pytest.mark.parametrize('kind, options', [
    ('JPEG', {}),
    ('JPEG', dict(progressive=True)),
    ('PNG', {}),
    ('GIF', {}),
    ('BMP', {}),
    ('WEBP', {}),
    ('TIFF', {}),
    ('PPM', {}),
])
def test_an_image_cut_anywhere_is_never_half_a_picture(picture, kind, options):
    data = encode(picture, kind, **options)
    for end in range(1, len(data), 29):
        with pytest.raises(ValueError, match=r'truncated or damaged|not an image'):
            decode_image(data[:end])


def bomb(width: int, height: int) -> dict[str, bytes]:
    """Small files that claim to be large."""
    ihdr = b'IHDR' + struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    entries = struct.pack('<HHII', 256, 4, 1, width) + struct.pack('<HHII', 257, 4, 1, height)
    return {
        'JPEG': b'\xff\xd8\xff\xc0\0\x11\x08' + struct.pack('>HH', height, width) + b'\x03\x01\x11\0\x02\x11\0\x03\x11\0' + bytes(200),
        'PNG': b'\x89PNG\r\n\x1a\n' + struct.pack('>I', 13) + ihdr + struct.pack('>I', zlib.crc32(ihdr)),
        'GIF': b'GIF89a' + struct.pack('<HH', width, height) + bytes(200),
        'BMP': b'BM' + bytes(12) + struct.pack('<IiiHHIIiiII', 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(200),
        'WebP': b'RIFF\xff\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0' + (width - 1).to_bytes(3, 'little') + (height - 1).to_bytes(3, 'little'),
        'TIFF': b'II*\0' + struct.pack('<IH', 8, 2) + entries + bytes(200),
        'PNM': b'P6\n%d %d\n255\n' % (width, height),
    }


@pytest.mark.parametrize('kind', bomb(1, 1))
def test_what_claims_too_many_pixels_is_not_decoded(kind, monkeypatch):
    monkeypatch.setattr(cv2, 'imdecode', lambda *_: pytest.fail('decoded'))
    with pytest.raises(ValueError, match=f'{kind} that claims 60000 x 60000 = 3,600,000,000 pixels, more than max_pixels=250,000,000'):
        decode_image(bomb(60000, 60000)[kind])


def test_the_limit_is_the_number_of_pixels_and_can_be_set(picture):
    data = encode(picture, 'PNG')
    assert MAX_PIXELS == 250_000_000
    assert decode_image(data, max_pixels=1200).shape == (40, 30, 3)
    with pytest.raises(ValueError, match='max_pixels=1,199'):
        decode_image(data, max_pixels=1199)
    with pytest.raises(DataFormatError, match=r'set: record 3: PNG that claims 30 x 40'):
        DecodeFace(max_pixels=1199)(dict(img_bytes=data, path='set', where='record 3'))


def test_pixels_pass_through_as_they_are():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert decode_image(pixels) is pixels
    for wrong in (pixels.astype(np.float32), pixels[..., 0], pixels[..., :2]):
        with pytest.raises(ValueError, match=r'pixels must be uint8 \[H, W, 3\]'):
            decode_image(wrong)


def test_a_single_pixel_is_warned_about_by_name():
    data = encode(Image.new('RGB', (1, 1)), 'PNG')
    with pytest.warns(DataFormatWarning, match=r'set: a/1\.png: 1 x 1 pixel: a placeholder'):
        results = DecodeFace()(dict(img_bytes=data, path='set', where='a/1.png'))
    assert results['img_shape'] == (1, 1)


def test_a_photo_is_turned_where_it_is_asked_for(picture):
    data = encode(picture, 'JPEG', exif=ROTATED)
    shapes = [DecodeFace(upright=upright)(dict(img_bytes=data, path='', where=''))['img_shape'] for upright in (False, True)]
    assert shapes == [(40, 30), (30, 40)]


@pytest.mark.parametrize('data, fact', [
    (b'', 'no image bytes'),
    (b'<!DOCTYPE html><html>', 'not an image'),
    (b'\0\0\0\x18ftypheic\0\0\0\0mif1', 'HEIC, which is not read here: convert it to JPEG or PNG'),
    (b'\0\0\0\x20ftypmif1\0\0\0\0heic', 'HEIC'),
    (b'\0\0\0\x20ftypavif\0\0\0\0avif', 'AVIF'),
    (b'\0\0\0\x0cjP  \r\n\x87\n', 'JPEG 2000'),
    (b'version https://git-lfs.github.com/spec/v1\n', 'not an image but a Git LFS pointer'),
])
def test_what_is_no_image_is_refused(data, fact):
    with pytest.raises(ValueError, match=fact):
        decode_image(data)


def test_an_html_page_in_a_rec_is_refused_with_its_record(shared):
    from mmface.datasets import FaceDataset
    dataset = FaceDataset(shared / 'reference/fixtures/adversarial/rec/html_instead_of_jpeg', pipeline=[dict(type='DecodeFace')])
    with pytest.raises(DataFormatError, match=r'train\.rec: record 1: not an image'):
        dataset[0]

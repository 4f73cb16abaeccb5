"""Every kind of image becomes RGB uint8 by one rule; Pillow is the oracle."""
import io

import cv2
import numpy as np
import pytest
from PIL import Image

from mmface.datasets import DataFormatError, DecodeFace
from mmface.datasets.decode import decode_image

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


@pytest.mark.parametrize('progressive', [False, True])
def test_a_jpeg_cut_anywhere_is_never_half_a_picture(picture, progressive):
    data = encode(picture, 'JPEG', progressive=progressive)
    for end in range(1, len(data), 7):
        with pytest.raises(ValueError, match=r'truncated or damaged|not an image'):
            decode_image(data[:end])


@pytest.mark.parametrize('data, fact', [
    (b'', 'no image bytes'),
    (b'<!DOCTYPE html><html>', 'not an image'),
    (b'\0\0\0\x18ftypheic\0\0\0\0mif1', 'HEIC'),
    (b'version https://git-lfs.github.com/spec/v1\n', 'not an image'),
])
def test_what_is_no_image_is_refused(data, fact):
    with pytest.raises(ValueError, match=fact):
        decode_image(data)


def test_an_html_page_in_a_rec_is_refused_with_its_record(shared):
    from mmface.datasets import FaceDataset
    dataset = FaceDataset(shared / 'reference/fixtures/adversarial/rec/html_instead_of_jpeg', pipeline=[dict(type='DecodeFace')])
    with pytest.raises(DataFormatError, match=r'train\.rec: record 1: not an image'):
        dataset[0]

"""Photos are read upright, whatever they are encoded as."""
import struct

import cv2
import numpy as np
import pytest

from mmface.apis import PhotoError, read_photo

# An L in red on blue: no two of the eight orientations look alike.
UPRIGHT = np.zeros((48, 32, 3), np.uint8)
UPRIGHT[..., 2] = 255
UPRIGHT[:32, :8] = UPRIGHT[24:32, :16] = (255, 0, 0)
# What a camera stores for each EXIF orientation, from the table in the EXIF standard (row 0 and column 0 of the stored image).
STORED = {
    1: UPRIGHT,
    2: UPRIGHT[:, ::-1],
    3: UPRIGHT[::-1, ::-1],
    4: UPRIGHT[::-1],
    5: UPRIGHT.transpose(1, 0, 2),
    6: UPRIGHT.transpose(1, 0, 2)[::-1],
    7: UPRIGHT.transpose(1, 0, 2)[::-1, ::-1],
    8: UPRIGHT.transpose(1, 0, 2)[:, ::-1],
}


def jpeg(image, orientation=None):
    data = cv2.imencode('.jpg', image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 98])[1].tobytes()
    if orientation is None:
        return data
    tiff = b'MM\0*' + struct.pack('>IHHHIHHI', 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    return data[:2] + b'\xff\xe1' + struct.pack('>H', len(tiff) + 8) + b'Exif\0\0' + tiff + data[2:]


@pytest.mark.parametrize('orientation', STORED)
def test_every_exif_orientation_is_turned_upright(tmp_path, orientation):
    (tmp_path / 'photo.jpg').write_bytes(jpeg(STORED[orientation], orientation))
    image = read_photo(tmp_path / 'photo.jpg')
    assert image.shape == UPRIGHT.shape
    assert np.abs(image.astype(int) - UPRIGHT).mean() < 12


def test_a_photo_without_orientation_is_taken_as_it_is(tmp_path):
    (tmp_path / 'photo.jpg').write_bytes(jpeg(UPRIGHT))
    assert np.abs(read_photo(tmp_path / 'photo.jpg').astype(int) - UPRIGHT).mean() < 12


def test_content_counts_not_the_name_and_colours_are_rgb(tmp_path):
    (tmp_path / 'photo.jpg').write_bytes(cv2.imencode('.png', UPRIGHT[..., ::-1])[1].tobytes())
    np.testing.assert_array_equal(read_photo(tmp_path / 'photo.jpg'), UPRIGHT)


@pytest.mark.parametrize('data, words', [(jpeg(UPRIGHT)[:400], 'truncated'), (b'', 'empty'), (b'<html>no</html>', 'not an image')])
def test_what_cannot_be_decoded_is_refused_by_name(tmp_path, data, words):
    (tmp_path / 'photo.jpg').write_bytes(data)
    with pytest.raises(PhotoError, match=rf'photo\.jpg: .*{words}'):
        read_photo(tmp_path / 'photo.jpg')


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path):
    with pytest.raises(PhotoError, match=r'photo\.jpg: cannot be read: No such file'):
        read_photo(tmp_path / 'photo.jpg')
    with pytest.raises(PhotoError, match='Is a directory'):
        read_photo(tmp_path)

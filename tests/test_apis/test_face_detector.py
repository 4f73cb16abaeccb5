"""Faces in photos: placed by hand, so that their place is known."""
import hashlib

import cv2
import numpy as np
import pytest

from mmface.apis import FaceDetector, face_detector, read_photo
from mmface.zoo import DownloadError


@pytest.fixture(scope='module')
def detector(yunet):
    return FaceDetector(yunet)


@pytest.fixture(scope='module')
def photos(shared):
    return sorted((shared / 'data/photos').glob('*/*.jpg'))


def test_every_photo_has_a_face_near_its_middle_with_landmarks_in_order(detector, photos):
    for path in photos:
        face = detector.detect(read_photo(path))[0]
        x, y, width, height = face.box
        assert abs(x + width / 2 - 125) < 40, path.name
        assert abs(y + height / 2 - 125) < 40, path.name
        left_eye, right_eye, nose, left_mouth, right_mouth = face.landmarks
        assert left_eye[0] < nose[0] < right_eye[0], path.name
        assert left_mouth[0] < right_mouth[0], path.name
        assert max(left_eye[1], right_eye[1]) < nose[1] < min(left_mouth[1], right_mouth[1]), path.name
        assert .7 <= face.score <= 1


def test_small_faces_in_huge_photos_and_faces_that_fill_one_are_found_where_they_are(detector, photos):
    photo = read_photo(photos[0])
    face = detector.detect(photo)[0]
    huge = np.zeros((2000, 4000, 3), np.uint8)
    huge[1500:1750, 3000:3250] = photo
    np.testing.assert_allclose(detector.detect(huge)[0].landmarks, face.landmarks + np.array([3000, 1500]), atol=8)
    large = cv2.resize(photo, (2500, 2500))
    np.testing.assert_allclose((detector.detect(large)[0].landmarks + .5) / 10 - .5, face.landmarks, atol=8)


def test_several_faces_come_largest_first(detector, photos):
    pair = np.zeros((250, 400, 3), np.uint8)
    pair[:150, :150] = cv2.resize(read_photo(photos[0]), (150, 150))
    pair[:, 150:] = read_photo(photos[5])
    small, large = sorted(detector.detect(pair), key=lambda face: face.box[0])[:2]
    assert [face.box for face in detector.detect(pair)][:2] == [large.box, small.box]
    assert large.area > small.area


@pytest.mark.parametrize('shape', [(1, 1), (1, 300), (300, 1), (250, 250)])
def test_no_face_gives_an_empty_list(detector, shape):
    assert detector.detect(np.full((*shape, 3), 90, np.uint8)) == []


def test_a_file_that_is_no_detector_is_refused(tmp_path, colour_model):
    for path, words in ((tmp_path / 'none.onnx', 'no such detector'), (colour_model(), 'not a YuNet')):
        with pytest.raises(ValueError, match=f'{path}.*{words}'):
            FaceDetector(path)
    (tmp_path / 'junk.onnx').write_bytes(b'junk')
    with pytest.raises(ValueError, match='not a YuNet'):
        FaceDetector(tmp_path / 'junk.onnx')


def test_the_detector_is_fetched_and_is_the_one_whose_checksum_stands_in_the_code(server, cache, yunet, monkeypatch, capfd):
    assert hashlib.sha256(yunet.read_bytes()).hexdigest() == face_detector.YUNET_SHA256
    server.body = yunet.read_bytes()
    monkeypatch.setattr(face_detector, 'YUNET_URL', server.url)
    assert FaceDetector().path == FaceDetector().path == cache / 'file.onnx'
    assert server.requests == 1
    assert capfd.readouterr() == ('', '')


def test_without_a_network_the_message_says_what_to_do(cache, monkeypatch):
    monkeypatch.setattr(face_detector, 'YUNET_URL', 'http://127.0.0.1:9/yunet.onnx')
    with pytest.raises(DownloadError, match=r'Without a network, fetch the file on another machine.*--detector PATH'):
        FaceDetector()

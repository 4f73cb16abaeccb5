"""Loose crops become aligned faces in the pipeline."""
import json
import warnings

import cv2
import numpy as np
import pytest

from mmface.datasets import AlignFace, DataFormatError, DataFormatWarning
from mmface.functional.geometry import align_face, landmark_template

POINTS = np.array([[64, 82], [117, 84], [91, 112], [70, 146], [113, 147]], float)
IMAGE = cv2.resize(np.random.default_rng(0).integers(0, 256, (9, 9, 3), dtype=np.uint8), (180, 200))


def item(landmarks, image=IMAGE) -> dict:
    return dict(img=image, path='set', where='loose/7.jpg', landmarks=landmarks)


@pytest.mark.parametrize('size', [(112, 112), (112, 96), (144, 144)])
def test_it_is_align_face_on_the_landmarks_of_the_item(size):
    results = AlignFace(size)(item(POINTS))
    assert np.array_equal(results['img'], align_face(IMAGE, POINTS, size))
    assert results['img_shape'] == size
    assert np.abs(results['landmarks'] - landmark_template(size)).max() < 3


@pytest.mark.parametrize('key, size', [('112x112', (112, 112)), ('96x112', (112, 96)), ('144x144_scaled', (144, 144))])
def test_crops_of_the_fixture_come_out(shared, key, size):
    folder = shared / 'reference/fixtures/align'
    warp = json.loads((folder / 'expected.json').read_text())['warp']
    names = 'source.png', warp['results'][key]['file']
    source, crop = (cv2.cvtColor(cv2.imread(str(folder / name)), cv2.COLOR_BGR2RGB) for name in names)
    found = AlignFace(size)(item(np.array(warp['landmarks'], float), source))['img']
    assert np.abs(found.astype(int) - crop).mean() < .01


@pytest.mark.parametrize('landmarks, words', [
    (None, 'no landmarks'),
    (np.full((5, 2), -1.), 'coincide'),
    (np.full((5, 2), np.nan), 'not finite'),
    (POINTS[:4], '5 points'),
])
def test_unusable_landmarks_are_refused_by_name(landmarks, words):
    with pytest.raises(DataFormatError, match=rf'set: loose/7\.jpg: .*{words}'):
        AlignFace()(item(landmarks))


def test_implausible_landmarks_are_warned_of_once():
    transform, mirrored = AlignFace(), POINTS[[1, 0, 2, 4, 3]]
    with pytest.warns(DataFormatWarning, match=r'loose/7\.jpg: aligned, the landmarks are 2\d\.\d px off'):
        transform(item(mirrored))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        transform(item(mirrored))
        transform(item(POINTS))

"""The quality of pictures, against what was done to them."""
import cv2
import numpy as np
import pytest
from scipy.stats import spearmanr

from mmface.apis.lab.image_quality import LEAST_SIDE, ImageQuality
from mmface.datasets.procedural import ProceduralFaces


@pytest.fixture(scope='module')
def measure():
    pytest.importorskip('brisque', reason='needs the extra quality')
    return ImageQuality()


def shrunk(image, factor):
    small = cv2.resize(image, (112 // factor, 112 // factor), interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (112, 112), interpolation=cv2.INTER_CUBIC)


def test_a_picture_gets_worse_the_more_detail_is_taken_from_it(measure):
    factors = np.tile([1, 2, 4, 8], 20)
    found = [measure(shrunk(ProceduralFaces(0).draw(at, 0)[0], factor)) for at, factor in enumerate(factors)]
    assert spearmanr(found, -factors).statistic > .8
    assert 0 < np.mean(found) < 1


def test_a_picture_gets_worse_by_blur_noise_and_compression(measure):
    image = ProceduralFaces(0).draw(3, 0)[0]
    noise = np.random.default_rng(0).normal(0, 30, image.shape)
    packed = cv2.imdecode(cv2.imencode('.jpg', image, (cv2.IMWRITE_JPEG_QUALITY, 10))[1], cv2.IMREAD_COLOR)
    worse = cv2.GaussianBlur(image, (0, 0), 2), (image + noise).clip(0, 255).astype(np.uint8), packed
    assert measure(image) > max(map(measure, worse)) + .2


@pytest.mark.parametrize('level', [0, 128, 255])
def test_a_picture_of_one_colour_has_none(measure, level):
    assert np.isnan(measure(np.full((112, 112, 3), level, np.uint8)))


@pytest.mark.parametrize('size', [(LEAST_SIDE - 1, 112), (112, LEAST_SIDE - 1), (1, 1)])
def test_a_small_picture_has_none(measure, size):
    assert np.isnan(measure(cv2.resize(ProceduralFaces(0).draw(0, 0)[0], size)))


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setattr('mmface.utils.dependency.find_spec', lambda name: None)
    with pytest.raises(ImportError, match=r'brisque is not installed.*pip install "mmface\[quality\]"'):
        ImageQuality()

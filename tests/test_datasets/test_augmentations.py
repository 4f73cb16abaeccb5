"""AdaFace's three augmentations and the flip: what they keep, how often they come, and Pillow, torchvision and OpenCV beside them."""
import math

import cv2
import numpy as np
import pytest
import torch
from mmcv.transforms import RandomFlip as MmcvRandomFlip
from PIL import Image, ImageEnhance
from torchvision.transforms import ColorJitter, RandomResizedCrop
from torchvision.transforms import functional as F

from mmface.datasets import RandomCropInPlace, RandomFlip, RandomLowResolution, RandomPhotometric
from mmface.datasets.transforms import random_low_resolution, random_photometric
from mmface.registry import TRANSFORMS

KINDS = [RandomCropInPlace, RandomLowResolution, RandomPhotometric, RandomFlip]
NOISE = np.random.default_rng(0).integers(0, 256, (112, 112, 3), dtype=np.uint8)
FACE = cv2.resize(NOISE[:9, :9], (112, 112), interpolation=cv2.INTER_CUBIC)


@pytest.fixture(autouse=True)
def _seed():
    np.random.seed(0)


def apply(transform, image=FACE) -> np.ndarray:
    return transform(dict(img=image))['img']


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('image', [FACE, FACE[:96, :80], FACE * 0, FACE * 0 + 255], ids=['face', 'crop', 'black', 'white'])
def test_type_size_and_range_stay_and_the_input_is_not_touched(kind, image):
    before = image.copy()
    for _ in range(50):
        found = apply(kind(prob=1.), image)
        assert found.dtype == np.uint8
        assert found.shape == image.shape
    assert np.array_equal(image, before)


@pytest.mark.parametrize('kind', KINDS)
def test_it_comes_with_its_probability_and_otherwise_leaves_the_very_image(kind):
    transform = kind(prob=.3)
    changed = np.mean([apply(transform) is not FACE for _ in range(4000)])
    assert changed == pytest.approx(.3, abs=4 * math.sqrt(.3 * .7 / 4000))
    assert all(apply(kind(prob=0.)) is FACE for _ in range(20))


@pytest.mark.parametrize('kind', KINDS)
def test_it_draws_from_numpy_alone(kind):
    transform = TRANSFORMS.build(dict(type=kind.__name__, prob=1.))
    assert transform.draws_from == {'numpy'}
    draws = []
    for seed in (5, 5, 6):
        np.random.seed(seed)
        draws.append([apply(transform).tobytes() for _ in range(4)])
    assert draws[0] == draws[1]
    assert (draws[0] != draws[2]) is (kind is not RandomFlip)


def test_the_paper_s_probabilities_are_the_defaults():
    assert [kind().prob for kind in KINDS] == [.2, .2, .2, .5]


def test_a_crop_stays_in_its_place_on_black():
    white = np.full((112, 112, 3), 255, np.uint8)
    for image in (white, np.maximum(NOISE, 1)):
        crop = apply(RandomCropInPlace(prob=1.), image)
        kept = crop.any(2)
        rows, columns = np.flatnonzero(kept.any(1)), np.flatnonzero(kept.any(0))
        assert kept[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1].all()
        assert kept.sum() == (rows[-1] - rows[0] + 1) * (columns[-1] - columns[0] + 1) < 112 * 112
        assert np.array_equal(crop[kept], image[kept])


@pytest.mark.parametrize('size', [(112, 112), (64, 200)])
def test_rectangles_are_distributed_as_torchvision_s(size):
    transform, n = RandomCropInPlace(), 800
    ours = np.array([transform.draw(*size) for _ in range(n)])
    torch.manual_seed(0)
    oracle = np.array([RandomResizedCrop.get_params(torch.zeros(3, *size), (.2, 1.), (3 / 4, 4 / 3)) for _ in range(n)])
    for a, b in zip(ours.T, oracle.T, strict=True):
        grid = np.unique(np.concatenate([a, b]))
        difference = [abs((a <= x).mean() - (b <= x).mean()) for x in grid]
        assert max(difference) < 1.95 * math.sqrt(2 / n), 'Kolmogorov-Smirnov at 1 in 1,000'
    assert (ours[:, 0] + ours[:, 2] <= size[0]).all() and (ours[:, 1] + ours[:, 3] <= size[1]).all()


def test_when_nothing_fits_the_largest_central_rectangle_is_taken():
    transform = RandomCropInPlace(scale=(2., 3.))
    assert transform.draw(112, 112) == (0, 0, 112, 112)
    assert transform.draw(30, 100) == (0, 30, 30, 40)
    assert transform.draw(100, 30) == (30, 0, 40, 30)


def test_low_resolution_goes_down_and_up_with_every_pair_of_interpolations(monkeypatch):
    seen, sizes = set(), []
    original = cv2.resize

    def spy(image, size, interpolation):
        calls.append((size, interpolation))
        return original(image, size, interpolation=interpolation)

    monkeypatch.setattr(random_low_resolution.cv2, 'resize', spy)
    for _ in range(400):
        calls = []
        found = apply(RandomLowResolution(prob=1.))
        (small, down), (large, up) = calls
        assert large == (112, 112)
        assert np.array_equal(found, original(original(FACE, small, interpolation=down), (112, 112), interpolation=up))
        seen.add((down, up))
        sizes.append(small)
    assert seen == {(a, b) for a in random_low_resolution.INTERPOLATIONS for b in random_low_resolution.INTERPOLATIONS}
    assert all(width == height for width, height in sizes)
    widths = np.array(sizes)[:, 0]
    assert 22 <= widths.min() < 30 and 105 < widths.max() <= 111
    assert widths.mean() == pytest.approx(.6 * 112, abs=5)


CHANGES = {'brightness': ImageEnhance.Brightness, 'contrast': ImageEnhance.Contrast, 'saturation': ImageEnhance.Color}


@pytest.mark.parametrize('name', CHANGES)
@pytest.mark.parametrize('factor', [.5, .73, 1., 1.21, 1.5])
@pytest.mark.parametrize('image', [FACE, NOISE], ids=['smooth', 'noise'])
def test_each_photometric_change_is_pillow_s_and_torchvision_s_to_one_level(name, factor, image):
    ours = getattr(random_photometric, f'change_{name}')(image, factor).astype(int)
    pillow = np.asarray(CHANGES[name](Image.fromarray(image)).enhance(factor)).astype(int)
    planes = getattr(F, f'adjust_{name}')(torch.from_numpy(image).permute(2, 0, 1), factor)
    assert np.abs(ours - pillow).max() <= 1
    assert np.abs(ours - planes.permute(1, 2, 0).numpy().astype(int)).max() <= 2
    if name != 'saturation':
        assert np.array_equal(ours, pillow)


def test_photometric_changes_come_in_every_order_with_the_factors_of_colour_jitter(monkeypatch):
    drawn = []
    transform = RandomPhotometric(prob=1.)
    names = ['brightness', 'contrast', 'saturation']
    transform.steps = tuple((lambda image, factor, name=name: drawn.append((name, factor)) or image, spread)
                            for name, (_, spread) in zip(names, transform.steps, strict=True))
    for _ in range(600):
        apply(transform)
    orders = {tuple(name for name, _ in drawn[at:at + 3]) for at in range(0, len(drawn), 3)}
    assert len(orders) == 6
    jitter = ColorJitter(.5, .5, .5)
    for name in names:
        low, high = getattr(jitter, name)
        factors = [factor for which, factor in drawn if which == name]
        assert low <= min(factors) < low + .02 and high - .02 < max(factors) <= high
        assert np.mean(factors) == pytest.approx(1, abs=.06)


@pytest.mark.parametrize('prob, direction', [
    (.5, 'horizontal'),
    (.9, 'vertical'),
    (.7, ['horizontal', 'diagonal']),
    ([.1, .6], ['vertical', 'horizontal']),
])
def test_the_flip_is_mmcv_s(prob, direction):
    ours, oracle = RandomFlip(prob, direction), MmcvRandomFlip(prob, direction=direction)
    results = [transform(dict(img=NOISE)) for transform in (ours, oracle) for _ in range(3000)]
    expected = {name: flipped.tobytes() for name, flipped in {
        None: NOISE, 'horizontal': NOISE[:, ::-1], 'vertical': NOISE[::-1], 'diagonal': NOISE[::-1, ::-1]}.items()}
    for result in results[:200]:
        assert result['flip'] is (result['flip_direction'] is not None)
        assert result['img'].tobytes() == expected[result['flip_direction']]
    for name in expected:
        shares = [np.mean([result['flip_direction'] == name for result in part]) for part in (results[:3000], results[3000:])]
        assert shares[0] == pytest.approx(shares[1], abs=.05)

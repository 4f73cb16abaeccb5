"""Alignment against worked matrices and crops, and against an SVD form of the same least squares."""
import json

import cv2
import numpy as np
import pytest

from mmface.functional.geometry import align_face, landmark_template, rms_residual, similarity_transform

SIZES = {
    '112x112': ((112, 112), 'arcface'),
    '96x112': ((112, 96), 'arcface'),
    '144x144_scaled': ((144, 144), 'arcface'),
    '224x224_scaled': ((224, 224), 'arcface'),
    '128x128_insightface': ((128, 128), 'insightface128'),
}
FRONTAL = np.array([[100, 120], [160, 122], [130, 155], [106, 190], [155, 191]], float)


@pytest.fixture(scope='module')
def expected(shared):
    return json.loads((shared / 'reference/fixtures/align/expected.json').read_text())


def umeyama_by_svd(source, target):
    """Umeyama 1991, equations 34 to 43, as an independent oracle."""
    x, y = source - source.mean(0), target - target.mean(0)
    u, d, vt = np.linalg.svd(y.T @ x / len(x))
    s = np.array([1, np.sign(np.linalg.det(u) * np.linalg.det(vt))])
    rotation = u @ np.diag(s) @ vt
    linear = (d * s).sum() / (x**2).sum(1).mean() * rotation
    return np.column_stack([linear, target.mean(0) - linear @ source.mean(0)])


@pytest.mark.parametrize('key', SIZES)
def test_templates_are_the_published_ones(expected, key):
    np.testing.assert_allclose(landmark_template(*SIZES[key]), expected['templates'][key], rtol=0, atol=1e-12)


def test_a_template_may_be_changed_without_changing_the_next_one():
    landmark_template()[:] = 0
    assert landmark_template()[0, 0] == 38.2946


@pytest.mark.parametrize('key', SIZES)
def test_matrices_and_residuals_agree_with_the_worked_ones_to_1e_9(expected, key):
    target = landmark_template(*SIZES[key])
    assert len(expected['cases']) >= 8
    for name, case in expected['cases'].items():
        matrix = similarity_transform(np.array(case['landmarks']), target)
        np.testing.assert_allclose(matrix, case['matrix'][key]['M'], rtol=0, atol=1e-9, err_msg=name)
        assert rms_residual(matrix, case['landmarks'], target) == pytest.approx(case['matrix'][key]['rms_px'], rel=0, abs=1e-9), name


def test_a_target_of_ones_own_gives_the_pixel_centre_rule(expected):
    target = np.array(expected['templates']['144x144_pixel_centres'])
    for case in expected['cases'].values():
        np.testing.assert_allclose(
            similarity_transform(case['landmarks'], target), case['matrix']['144x144_pixel_centres']['M'], rtol=0, atol=1e-9)


def test_random_landmarks_agree_with_umeyama_by_svd():
    rng = np.random.default_rng(0)
    for _ in range(200):
        source = rng.normal(size=(5, 2)) * rng.uniform(.1, 1e3) + rng.normal(size=2) * 1e3
        ours, oracle = similarity_transform(source, landmark_template()), umeyama_by_svd(source, landmark_template())
        np.testing.assert_allclose(ours, oracle, rtol=0, atol=1e-7)


def test_mirrored_landmarks_are_rotated_not_reflected():
    mirrored = FRONTAL * (-1, 1) + (260, 0)
    matrix = similarity_transform(mirrored, landmark_template())
    assert np.linalg.det(matrix[:, :2]) > 0
    assert rms_residual(matrix, mirrored, landmark_template()) > 20


@pytest.mark.parametrize('key, words', [('all_equal', 'coincide'), ('four_points', r'5 points.*\(4, 2\)'), ('nan', 'not finite')])
def test_degenerate_landmarks_are_refused(expected, key, words):
    with pytest.raises(ValueError, match=words):
        similarity_transform(np.array(expected['degenerate'][key]['landmarks'], float), landmark_template())


def test_landmarks_that_nothing_brings_to_the_template_are_refused():
    target = landmark_template()
    z = (target - target.mean(0)) @ [1, 1j]
    source = np.array([1, -2, 1, 0, 0]) * np.exp(.7j)
    source -= source @ z.conj() / (z @ z.conj()) * z  # at right angles: the best similarity shrinks it to a point
    for shift in (0, 300):
        with pytest.raises(ValueError, match='no rotation and scale'):
            similarity_transform(100 * np.stack([source.real, source.imag], 1) + shift, target)


def test_landmarks_outside_of_any_image_are_refused():
    with pytest.raises(ValueError, match='outside of any image'):
        similarity_transform(FRONTAL * 1e200, landmark_template())


@pytest.mark.parametrize('key, words', [('collinear', 'do not look like a face'), ('outside_image', 'outside the image of 112 x 112')])
def test_implausible_landmarks_are_warned_about(expected, key, words):
    with pytest.warns(UserWarning, match=words):
        align_face(np.zeros((112, 112, 3), np.uint8), np.array(expected['degenerate'][key]['landmarks'], float))


def test_a_crop_that_merely_touches_the_image_is_not_warned_about(recwarn):
    image = np.full((200, 260, 3), 255, np.uint8)
    crop = align_face(image, FRONTAL + np.array([175, 0]))  # the crop starts at x = 219, the image ends at 259
    assert crop[:, 0].max() == 255
    assert crop[:, -1].max() == 0
    assert not recwarn.list


@pytest.mark.parametrize('key', ['112x112', '96x112', '144x144_scaled'])
def test_crops_agree_with_exact_bilinear_ones(expected, shared, key):
    folder = shared / 'reference/fixtures/align'
    source, crop = cv2.imread(str(folder / 'source.png')), cv2.imread(str(folder / expected['warp']['results'][key]['file']))
    ours = align_face(source, np.array(expected['warp']['landmarks']), *SIZES[key])
    assert ours.shape == crop.shape
    assert np.abs(ours.astype(int) - crop).mean() < .01


def test_unknown_names_and_sizes_are_refused():
    with pytest.raises(ValueError, match=r'no template .*known: arcface'):
        landmark_template(name='vgg')
    with pytest.raises(ValueError, match='must be positive'):
        landmark_template((0, 112))

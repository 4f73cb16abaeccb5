"""Five-point alignment of faces.

Landmarks are five (x, y) points in pixels, x to the right and y down, in the order left eye, right eye, nose, left mouth corner, right
mouth corner **as seen in the image**: the order of InsightFace, and also what OpenCV's YuNet gives. Sizes are (height, width).
"""
import warnings
from collections.abc import Sequence

import cv2
import numpy as np

# Where the five points of a face belong, and the side of the square they are given for. 'arcface': the 96 x 112 points of the
# SphereFace era moved 8 px to the right, https://github.com/deepinsight/insightface (ArcFace, Deng et al. 2019). 'insightface128':
# what the insightface package does at multiples of 128, which is moved again but not scaled.
TEMPLATES = {
    'arcface': (112, ((38.2946, 51.6963), (73.5318, 51.5014), (56.0252, 71.7366), (41.5493, 92.3655), (70.7299, 92.2041))),
    'insightface128': (128, ((46.2946, 51.6963), (81.5318, 51.5014), (64.0252, 71.7366), (49.5493, 92.3655), (78.7299, 92.2041))),
}

MAX_RESIDUAL = 1 / 8
"""Root-mean-square residual, as a fraction of the crop's height, above which :func:`align_face` warns. At 112 px: a profile
reaches 12 px, points on a line 15, mirrored ones 23."""


def landmark_template(size: Sequence[int] = (112, 112), name: str = 'arcface') -> np.ndarray:
    """The places of the five landmarks in an aligned crop.

    The named template is scaled by height / side, without a half-pixel shift (InsightFace's rule: x 9/7 for 144), then moved
    horizontally so that a crop that is not square shows the middle of the square one (8 px to the left for 112 x 96).

    Args:
        size: (height, width) of the crop in pixels.
        name: a key of ``TEMPLATES``.

    Returns:
        float64 [5, 2], a new array of (x, y).

    Raises:
        ValueError: an unknown name or a size that is not positive.
    """
    if name not in TEMPLATES:
        raise ValueError(f'there is no template {name!r}; known: {", ".join(TEMPLATES)}')
    height, width = size
    if min(height, width) < 1:
        raise ValueError(f'the size of a crop must be positive, got (height, width) = ({height}, {width})')
    side, points = TEMPLATES[name]
    return np.array(points) * (height / side) + ((width - height) / 2, 0)


def similarity_transform(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The rotation, scale and shift, never a reflection, that takes five points nearest to five others (least squares).

    In complex numbers the map is a z + b, and minimising the squared distances gives a in closed form; equal to Umeyama (1991) with
    scale, to skimage's ``SimilarityTransform`` and, unlike OpenCV's ``estimateAffinePartial2D``, without dropping a point.

    Args:
        source: [5, 2] landmarks (x, y).
        target: [5, 2] places (x, y), e.g. :func:`landmark_template`.

    Returns:
        float64 [2, 3]; ``matrix @ [x, y, 1]`` is the place of (x, y). Mirrored landmarks give a rotation with a large
        :func:`rms_residual`.

    Raises:
        ValueError: not five finite points each, source points that coincide, or points that no similarity brings together.
    """
    z, w = _as_complex(source, 'landmarks'), _as_complex(target, 'target points')
    centred = z - z.mean()
    spread = (abs(centred)**2).sum()
    if spread <= 1e-12 * (abs(z)**2).max():
        raise ValueError(f'the landmarks coincide at ({z[0].real:g}, {z[0].imag:g}): no rotation or scale can be found from them')
    a = (centred.conj() * (w - w.mean())).sum() / spread
    if abs(a) * np.sqrt(spread) <= 1e-9 * np.linalg.norm(w - w.mean()):  # then the best similarity shrinks them to a point
        raise ValueError(f'no rotation and scale take the landmarks {np.asarray(source).tolist()} towards the target points')
    b = w.mean() - a * z.mean()
    return np.array([[a.real, -a.imag, b.real], [a.imag, a.real, b.imag]])


def rms_residual(matrix: np.ndarray, source: np.ndarray, target: np.ndarray) -> float:
    """The root-mean-square distance, in target pixels, between the transformed source points and the target points.

    About 0.5 for a frontal face at 112 x 112, 12 for a profile, over 20 for landmarks in a mirrored order.
    """
    moved = np.asarray(source, np.float64) @ matrix[:, :2].T + matrix[:, 2]
    return float(np.sqrt(((moved - target)**2).sum(1).mean()))


def align_face(image: np.ndarray, landmarks: np.ndarray, size: Sequence[int] = (112, 112), template: str = 'arcface') -> np.ndarray:
    """Cuts the face out of an image so that its landmarks lie on the template.

    Args:
        image: uint8 [H, W, 3] or [H, W].
        landmarks: [5, 2] in pixels of the image.
        size: (height, width) of the crop.
        template: a key of ``TEMPLATES``.

    Returns:
        The crop, uint8 [height, width, 3] or [height, width]; bilinear (OpenCV's 1/32 px steps), black outside the image.

    Raises:
        ValueError: as :func:`similarity_transform`.

    Warns:
        UserWarning: where the landmarks do not look like a face (residual above ``MAX_RESIDUAL``) or the crop lies outside the image.
    """
    target = landmark_template(size, template)
    matrix = similarity_transform(landmarks, target)
    residual = rms_residual(matrix, landmarks, target)
    if residual > MAX_RESIDUAL * size[0]:
        warnings.warn(
            f'the landmarks do not look like a face: aligned, they are {residual:.1f} px off on average in a crop {size[0]} px high; '
            'is their order left eye, right eye, nose, left mouth corner, right mouth corner as seen in the image?',
            stacklevel=2)
    if _misses(matrix, image.shape, size):
        warnings.warn(f'the aligned face lies outside the image of {image.shape[1]} x {image.shape[0]} px: the crop is black', stacklevel=2)
    return warp(image, matrix, size)


def warp(image: np.ndarray, matrix: np.ndarray, size: Sequence[int]) -> np.ndarray:
    """The part of ``image`` that ``matrix`` [2, 3] moves into a crop of ``size`` (height, width); black where the image ends."""
    return cv2.warpAffine(image, matrix, (size[1], size[0]), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0)


def _as_complex(points: np.ndarray, what: str) -> np.ndarray:
    points = np.asarray(points, np.float64)
    if points.shape != (5, 2):
        raise ValueError(f'the {what} must be 5 points (x, y), shape (5, 2), got shape {points.shape}')
    if not np.isfinite(points).all():
        raise ValueError(f'the {what} are not finite: {points.tolist()}')
    if abs(points).max() > 1e9:
        raise ValueError(f'the {what} lie outside of any image: {points.tolist()}')
    return points[:, 0] + 1j * points[:, 1]


def _misses(matrix: np.ndarray, image_shape: Sequence[int], size: Sequence[int]) -> bool:
    """Whether no pixel of the crop falls into the image: two rectangles are apart along an axis of one of them."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    image, crop = corners * (image_shape[1] - 1, image_shape[0] - 1), corners * (size[1] - 1, size[0] - 1)
    in_crop = image @ matrix[:, :2].T + matrix[:, 2]
    in_image = (crop - matrix[:, 2]) @ np.linalg.inv(matrix[:, :2]).T
    return _apart(in_crop, crop) or _apart(in_image, image)


def _apart(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(((one.max(0) < other.min(0)) | (one.min(0) > other.max(0))).any())

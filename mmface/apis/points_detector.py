"""Somebody else's face detector, as a function."""
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np

from .face_cropper import Detector
from .face_detector import DetectedFace, FaceDetector


class PointsDetector:
    """A function that gives five points a face, in the place of :class:`FaceDetector`.

    Args:
        name: what the function is called in messages.
        function: takes a photo, uint8 RGB [H, W, 3]; returns the (x, y) of left eye, right eye, nose, left and right mouth corner, as seen
            in the image and in its pixels, of one face [5, 2] or of several [F, 5, 2]; or None, or nothing, for no face.
    """

    def __init__(self, name: str, function: Callable) -> None:
        self.name, self.function = name, function

    def detect(self, image: np.ndarray) -> list[DetectedFace]:
        """The faces of a photo; a face's box is that of its points, its score 1.

        Raises:
            ValueError: where the function returns anything else.
        """
        found = self.function(image)
        points = np.zeros((0, 5, 2)) if found is None or len(found) == 0 else np.asarray(found, np.float64)
        points = points[None] if points.ndim == 2 else points
        if points.ndim != 3 or points.shape[1:] != (5, 2):
            raise ValueError(f'{self.name} must return five points [5, 2], those of several faces [F, 5, 2] or None, '
                             f'got {list(points.shape)}')
        return [DetectedFace((*face.min(0).tolist(), *np.ptp(face, 0).tolist()), face, 1.) for face in points]


def build_detector(name: str, file: str | Path | None = None) -> Detector:
    """The detector of that name.

    Args:
        name: ``'yunet'``, or ``'module:function'`` of a function that :class:`PointsDetector` describes.
        file: YuNet's ONNX file; None fetches it once.

    Raises:
        ValueError: for a name that is neither, or names nothing; see also :class:`FaceDetector`.
    """
    if name == 'yunet':
        return FaceDetector(file)
    module, colon, function = name.partition(':')
    if not colon:
        raise ValueError(f"detector {name!r}: expected 'yunet' or 'module:function'; YuNet's file goes to --detector-file")
    try:
        return PointsDetector(name, getattr(import_module(module), function))
    except (ImportError, AttributeError) as error:
        raise ValueError(f'detector {name!r}: {error}; is its folder on PYTHONPATH?') from error

"""From a photo to the aligned crop that a network eats."""
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from mmface.functional.geometry import MAX_RESIDUAL, landmark_template, rms_residual, similarity_transform, warp

from .face_detector import DetectedFace
from .photo import PhotoError, read_photo

MIN_FACE = 16
"""Width in pixels of the smallest face that is taken: a crop of 112 px magnifies it more than five times, and it shows nobody any more."""


class Detector(Protocol):
    """Finds faces, as :class:`~mmface.apis.face_detector.FaceDetector` does."""

    def detect(self, image: np.ndarray) -> list[DetectedFace]:
        """The faces of a photo, uint8 RGB [H, W, 3], largest first."""
        ...


def off_centre(face: DetectedFace, size: Sequence[int]) -> float:
    """The distance in pixels between the centre of a face's box and that of a photo of ``size`` (height, width)."""
    x, y, width, height = face.box
    return math.hypot(x + width / 2 - size[1] / 2, y + height / 2 - size[0] / 2)


CHOICES: dict[str, Callable[[list[DetectedFace], Sequence[int]], DetectedFace] | None] = {
    'only': None,
    'largest': lambda faces, size: max(faces, key=lambda face: face.area),  # noqa: ARG005
    'central': lambda faces, size: min(faces, key=lambda face: off_centre(face, size)),
}
"""Which of several faces in a photo of ``size`` (height, width) is taken; ``'only'`` refuses such a photo."""


@dataclass(frozen=True)
class FaceCrop:
    """An aligned face and where it came from.

    Attributes:
        path: the photo.
        image: uint8 RGB [height, width, 3].
        face: the face in the photo; None for a photo that was a crop already.
        others: number of further faces in the photo.
        residual: distance of the aligned landmarks from the template, root mean square in pixels of the crop; None for a ready crop.
    """
    path: str
    image: np.ndarray
    face: DetectedFace | None = None
    others: int = 0
    residual: float | None = None

    def __str__(self) -> str:
        if self.face is None:
            return f'{self.path}: aligned crop'
        x, y, width, height = self.face.box
        others = f', one of {self.others + 1}' if self.others else ''
        return (f'{self.path}: face of {width:.0f} x {height:.0f} px at ({x:.0f}, {y:.0f}){others}, detector score {self.face.score:.2f}, '
                f'{self.residual:.1f} px off the template')


class FaceCropper:
    """Reads photos and cuts the one face out.

    Args:
        size: (height, width) of the crops.
        template: a key of :data:`mmface.functional.geometry.TEMPLATES`.
        detector: finds the face; None takes each photo as a ready crop, which then must have exactly ``size``.
        choice: which face to take of a photo with several, a key of ``CHOICES``.
        min_face: the smallest side of a face's box that is taken, in pixels of the photo.
    """

    def __init__(self, size: Sequence[int], template: str, detector: Detector | None, choice: str = 'only',
                 min_face: int = MIN_FACE) -> None:
        self.size, self.template, self.detector, self.choice, self.min_face = tuple(size), template, detector, choice, min_face
        self.target = landmark_template(self.size, template)

    def __call__(self, path: str | Path) -> FaceCrop:
        """Reads one photo.

        Raises:
            PhotoError: not readable, no face, several faces, a tiny one, landmarks that do not look like a face, or a ready crop of another
                size.
        """
        return self.crop(read_photo(path), path)

    def crop(self, image: np.ndarray, path: str | Path) -> FaceCrop:
        """Cuts the face out of a photo, uint8 RGB [H, W, 3], that is called ``path``."""
        if self.detector is None:
            if image.shape[:2] != self.size:
                raise PhotoError(path, f'is {image.shape[0]} x {image.shape[1]} (height x width), the model eats aligned crops of '
                                 f'{self.size[0]} x {self.size[1]}; leave --aligned out to have the face found and aligned', 'size')
            return FaceCrop(str(path), image)
        faces = self.detector.detect(image)
        face = self._choose(path, faces, image.shape[:2])
        if min(face.box[2:]) < self.min_face:
            raise PhotoError(path, f'its face is {face.box[2]:.0f} x {face.box[3]:.0f} px, too small to be recognised: use a photo where '
                             f'it has {self.min_face} px or, better, {self.size[1]}', 'tiny_face')
        try:
            matrix = similarity_transform(face.landmarks, self.target)
        except ValueError as error:
            raise PhotoError(path, str(error), 'implausible_landmarks') from error
        residual = rms_residual(matrix, face.landmarks, self.target)
        if residual > MAX_RESIDUAL * self.size[0]:
            raise PhotoError(path, f'the landmarks found do not look like a face ({residual:.1f} px off the template): use one that '
                             'shows it more from the front', 'implausible_landmarks')
        return FaceCrop(str(path), warp(image, matrix, self.size), face, len(faces) - 1, residual)

    def _choose(self, path: str | Path, faces: list[DetectedFace], size: tuple[int, int]) -> DetectedFace:
        if not faces:
            raise PhotoError(path, 'no face found; is it upright, sharp and not cut off? A crop that is aligned already needs --aligned',
                             'no_face')
        choose = CHOICES[self.choice]
        if len(faces) == 1:
            return faces[0]
        if choose is None:
            places = ', '.join(f'{face.box[2]:.0f} x {face.box[3]:.0f} px at ({face.box[0]:.0f}, {face.box[1]:.0f})' for face in faces)
            raise PhotoError(path, f'{len(faces)} faces found ({places}): cut the photo down to one, or take the largest with --largest',
                             'several_faces')
        return choose(faces, size)


def crop_photos(cropper: FaceCropper, photos: Sequence[Path], on_error: str) -> tuple[list[Path], list[FaceCrop], list[PhotoError]]:
    """Reads many photos.

    Args:
        cropper: cuts the faces out.
        photos: the files.
        on_error: ``'stop'`` at a photo that cannot be used, or ``'skip'`` it.

    Returns:
        The photos that can be used, their faces, and what is wrong with the others.

    Raises:
        PhotoError: a photo that cannot be used, unless skipped.
    """
    used, crops, problems = [], [], []
    for photo in photos:
        try:
            crops.append(cropper(photo))
            used.append(photo)
        except PhotoError as error:
            if on_error == 'stop':
                raise
            problems.append(error)
    return used, crops, problems

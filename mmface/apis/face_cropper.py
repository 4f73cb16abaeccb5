"""From a photo to the aligned crop that a network eats."""
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mmface.functional.geometry import MAX_RESIDUAL, align_face, landmark_template, rms_residual, similarity_transform

from .face_detector import DetectedFace, FaceDetector
from .photo import PhotoError, read_photo


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
        others = f', the largest of {self.others + 1}' if self.others else ''
        return (f'{self.path}: face of {width:.0f} x {height:.0f} px at ({x:.0f}, {y:.0f}){others}, detector score {self.face.score:.2f}, '
                f'{self.residual:.1f} px off the template')


class FaceCropper:
    """Reads photos and cuts the one face out.

    Args:
        size: (height, width) of the crops.
        template: a key of :data:`mmface.functional.geometry.TEMPLATES`.
        detector: finds the face; None takes each photo as a ready crop, which then must have exactly ``size``.
        largest: with several faces in a photo, take the largest instead of refusing it.
    """

    def __init__(self, size: Sequence[int], template: str, detector: FaceDetector | None, largest: bool = False) -> None:
        self.size, self.template, self.detector, self.largest = tuple(size), template, detector, largest

    def __call__(self, path: str | Path) -> FaceCrop:
        """Reads one photo.

        Raises:
            PhotoError: not readable, no face, several faces, landmarks that do not look like a face, or a ready crop of another size.
        """
        image = read_photo(path)
        if self.detector is None:
            if image.shape[:2] != self.size:
                raise PhotoError(path, f'is {image.shape[0]} x {image.shape[1]} (height x width), the model eats aligned crops of '
                                 f'{self.size[0]} x {self.size[1]}; leave --aligned out to have the face found and aligned')
            return FaceCrop(str(path), image)
        faces = self.detector.detect(image)
        if not faces:
            raise PhotoError(path, 'no face found; is it upright, sharp and not cut off? A crop that is aligned already needs --aligned')
        if len(faces) > 1 and not self.largest:
            places = ', '.join(f'{face.box[2]:.0f} x {face.box[3]:.0f} px at ({face.box[0]:.0f}, {face.box[1]:.0f})' for face in faces)
            raise PhotoError(path, f'{len(faces)} faces found ({places}): cut the photo down to one, or take the largest with --largest')
        target = landmark_template(self.size, self.template)
        residual = rms_residual(similarity_transform(faces[0].landmarks, target), faces[0].landmarks, target)
        if residual > MAX_RESIDUAL * self.size[0]:
            raise PhotoError(path, f'the landmarks found do not look like a face ({residual:.1f} px off the template): use one that '
                             'shows it more from the front')
        return FaceCrop(str(path), align_face(image, faces[0].landmarks, self.size, self.template), faces[0], len(faces) - 1, residual)

"""From pictures to faces with embeddings, by MMEngine's conventions for inferencers."""
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import cv2
import numpy as np
import torch
from mmengine.config import Config
from mmengine.infer import BaseInferencer

from mmface.functional.geometry import landmark_template, rms_residual, similarity_transform, warp
from mmface.structures import FaceDataSample

from .face_cropper import Detector
from .face_detector import DetectedFace, FaceDetector
from .media import Picture, list_media, pictures
from .open_embedder import open_embedder
from .photo import PhotoError


@dataclass
class _Found:
    """A picture, its faces and their crops, until the embeddings come."""
    picture: Picture
    faces: list[DetectedFace] = field(default_factory=list)
    crops: list[np.ndarray] = field(default_factory=list)
    residuals: list[float] = field(default_factory=list)
    embeddings: np.ndarray | None = None
    norms: np.ndarray | None = None
    problem: str | None = None


class FaceInferencer(BaseInferencer):
    """Finds all faces in pictures, aligns them and embeds them, as many as fill a batch at a time, across pictures.

    ::

        found = FaceInferencer('model.onnx')('photos/')
        for picture in found['predictions']:
            for face in picture['faces']:
                print(picture['path'], face['box'], face['norm'])

    Args:
        model: an ``.onnx`` file, a config, a converted pair or a name of the zoo.
        weights: the config's checkpoint.
        device: where torch runs; an ONNX file runs where its providers say.
        detector: finds faces, as :class:`FaceDetector` does. Default: OpenCV's YuNet, fetched once.
        aligned: the pictures are aligned crops of the network's size, one face each.
        show_progress: whether to show a bar.
        onnx_options: further arguments of :func:`~mmface.apis.open_embedder.open_embedder`.

    Raises:
        ValueError, OSError, ImportError: as the parts raise them.
    """
    preprocess_kwargs: ClassVar[set] = {'on_error'}
    visualize_kwargs: ClassVar[set] = {'draw'}
    postprocess_kwargs: ClassVar[set] = {'return_crops'}

    def __init__(self,
                 model: str | Path | Config,
                 weights: str | Path | None = None,
                 device: str | None = None,
                 detector: Detector | None = None,
                 aligned: bool = False,
                 show_progress: bool = False,
                 **onnx_options: Any) -> None:
        self.embedder = open_embedder(model, weights, device, **onnx_options)
        self.detector = None if aligned else detector or FaceDetector()
        self.target = landmark_template(self.embedder.size, self.embedder.template)
        self.show_progress = show_progress
        self.pipeline = self._init_pipeline(None)

    def __call__(self,
                 inputs: str | Path | np.ndarray | Iterable,
                 return_datasamples: bool = False,
                 batch_size: int = 16,
                 on_error: str = 'stop',
                 draw: bool = False,
                 return_crops: bool = False) -> dict:
        """Looks at pictures.

        Args:
            inputs: a photo or video file, a folder of them, an array uint8 RGB [H, W, 3], or several of these.
            return_datasamples: give each picture's faces as a :class:`FaceDataSample` instead of plain values.
            batch_size: faces to embed at a time.
            on_error: ``'stop'`` at a picture that cannot be read, or ``'skip'`` it: its entry then has no faces and a ``problem``.
            draw: also return the pictures with boxes and landmarks drawn in, as ``visualization``.
            return_crops: also return each face's aligned crop, uint8 RGB.

        Returns:
            ``predictions``: for each picture ``path``, ``frame`` (of a video, else None), ``problem`` (None where there is none) and
            ``faces``, largest first: ``box`` (x, y, width, height), ``landmarks`` [5, 2], ``score``, ``residual`` (root mean square
            distance of the aligned landmarks from the template, pixels), ``embedding`` [D], ``norm`` (its length before normalisation: what
            quality is read off); ``visualization``: the drawn pictures, or None.

        Raises:
            PhotoError: a picture that cannot be used, unless skipped.
        """
        return super().__call__(inputs, return_datasamples, batch_size, on_error=on_error, draw=draw, return_crops=return_crops)

    def _inputs_to_list(self, inputs: str | Path | np.ndarray | Iterable) -> list:
        return list_media(inputs)

    def preprocess(self, inputs: Sequence, batch_size: int = 1, on_error: str = 'stop') -> Iterator[list[_Found]]:
        """Pictures with their faces cut out, in groups that hold at least ``batch_size`` faces."""
        if on_error not in ('stop', 'skip'):
            raise ValueError(f"on_error is 'stop' or 'skip', got {on_error!r}")
        group: list[_Found] = []
        for found in self._look(inputs, on_error):
            group.append(found)
            if sum(len(each.crops) for each in group) >= batch_size:
                yield group
                group = []
        if group:
            yield group

    def forward(self, inputs: list[_Found]) -> list[_Found]:
        """Embeds the faces of a group of pictures."""
        crops = [crop for found in inputs for crop in found.crops]
        if crops:
            embeddings, norms = self.embedder.embed_with_norm(np.stack(crops))
            ends = np.cumsum([len(found.crops) for found in inputs])[:-1]
            for found, rows, lengths in zip(inputs, np.split(embeddings, ends), np.split(norms, ends), strict=True):
                found.embeddings, found.norms = rows, lengths
        return inputs

    def visualize(self, inputs: list, preds: list[_Found], draw: bool = False) -> list[np.ndarray] | None:
        """The pictures with what was found, or None."""
        return [_draw(found) for found in preds] if draw else None

    def postprocess(self, preds: list[_Found], visualization: list[np.ndarray] | None, return_datasamples: bool = False,
                    return_crops: bool = False) -> dict:
        """What :meth:`__call__` returns."""
        predictions = []
        for found in preds:
            faces = [self._face(found, at, return_crops) for at in range(len(found.faces))]
            predictions.append(dict(path=found.picture.name, frame=found.picture.frame, problem=found.problem,
                                    faces=_sample(faces) if return_datasamples else faces))  # yapf: disable
        return dict(predictions=predictions, visualization=visualization)

    def _init_pipeline(self, cfg: None) -> Callable[[Picture], _Found]:
        return self._cut

    def _look(self, inputs: Sequence, on_error: str) -> Iterator[_Found]:
        for number, item in enumerate(inputs):
            try:
                for picture in pictures(item, number):
                    yield self.pipeline(picture)
            except PhotoError as error:
                if on_error == 'stop':
                    raise
                yield _Found(Picture(error.path, np.zeros((1, 1, 3), np.uint8)), problem=error.problem)

    def _cut(self, picture: Picture) -> _Found:
        found, height, width = _Found(picture), *picture.image.shape[:2]
        if self.detector is None:
            if (height, width) != self.embedder.size:
                raise PhotoError(picture.name, f'is {height} x {width} (height x width), the network eats aligned crops of '
                                 f'{self.embedder.size[0]} x {self.embedder.size[1]}', 'size')
            found.faces, found.crops = [DetectedFace((0., 0., width, height), self.target, 1.)], [picture.image]
            found.residuals = [0.]
            return found
        for face in self.detector.detect(picture.image):
            try:
                matrix = similarity_transform(face.landmarks, self.target)
            except ValueError as error:
                raise PhotoError(picture.name, str(error), 'implausible_landmarks') from error
            found.faces.append(face)
            found.crops.append(warp(picture.image, matrix, self.embedder.size))
            found.residuals.append(rms_residual(matrix, face.landmarks, self.target))
        return found

    @staticmethod
    def _face(found: _Found, at: int, return_crops: bool) -> dict:
        face = found.faces[at]
        result = dict(
            box=[float(number) for number in face.box], landmarks=face.landmarks.tolist(), score=face.score, residual=found.residuals[at],
            embedding=found.embeddings[at], norm=float(found.norms[at]))  # type: ignore[index]
        return result | dict(crop=found.crops[at]) if return_crops else result


def _sample(faces: list[dict]) -> FaceDataSample:
    """The faces of one picture, batched; the picture's own values are meta information."""
    if not faces:
        return FaceDataSample()
    sample = FaceDataSample(embedding=torch.from_numpy(np.stack([face['embedding'] for face in faces])))
    sample.set_metainfo({key: [face[key] for face in faces] for key in ('box', 'landmarks', 'score', 'residual', 'norm')})
    return sample


def _draw(found: _Found) -> np.ndarray:
    image = found.picture.image.copy()
    thickness = max(1, round(max(image.shape[:2]) / 400))
    for face in found.faces:
        x, y, width, height = (round(number) for number in face.box)
        cv2.rectangle(image, (x, y), (x + width, y + height), (0, 158, 115), thickness)
        for point in face.landmarks:
            cv2.circle(image, (round(point[0]), round(point[1])), 2 * thickness, (230, 159, 0), -1)
    return image

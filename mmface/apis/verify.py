"""Do two photos show the same person?"""
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .face_cropper import FaceCrop, FaceCropper, crop_photos
from .open_embedder import Embedder
from .photo import PhotoError
from .threshold import Threshold

_BATCH = 32


@dataclass(frozen=True)
class Verification:
    """The comparison of two faces.

    Attributes:
        similarity: cosine of the two embeddings, -1 to 1.
        threshold: from which similarity on they are taken for one person's; None where nobody said.
        crops: the two faces.
    """
    similarity: float
    threshold: Threshold | None
    crops: tuple[FaceCrop, FaceCrop]

    @property
    def same(self) -> bool | None:
        """The decision; None without a threshold."""
        return None if self.threshold is None else self.similarity >= self.threshold.value

    @property
    def decision(self) -> str:
        """The decision in words."""
        return 'none' if self.same is None else 'same person' if self.same else 'different people'

    def to_dict(self) -> dict:
        """Numbers, strings and lists only, for JSON."""
        return dict(
            similarity=self.similarity,
            threshold=self.threshold and self.threshold.value,
            threshold_source=self.threshold and self.threshold.source,
            same=self.same,
            photos=[
                dict(
                    path=crop.path,
                    aligned=crop.face is None,
                    faces=None if crop.face is None else crop.others + 1,
                    box=crop.face and list(crop.face.box),
                    landmarks=crop.face and crop.face.landmarks.tolist(),
                    detector_score=crop.face and crop.face.score,
                    residual=crop.residual) for crop in self.crops
            ])

    def __str__(self) -> str:
        return '\n'.join([*map(str, self.crops), f'similarity  {self.similarity:.4f}  (cosine, -1 to 1)', threshold_text(self.threshold),
                          f'decision    {self.decision}'])  # yapf: disable


def threshold_text(threshold: Threshold | None) -> str:
    """A threshold and where it comes from, for people to read."""
    if threshold is None:
        return 'threshold   none: the model file carries none and none was given (--threshold T)'
    return f'threshold   {threshold.value:.4f}  ({threshold.source})'


def compare_faces(embedder: Embedder, first: FaceCrop, second: FaceCrop, threshold: Threshold | None = None) -> Verification:
    """Compares two aligned faces of the size that the network eats.

    Raises:
        PhotoError: the network gives a zero or non-finite embedding.
    """
    embeddings = embedder.embed(np.stack([first.image, second.image]))
    return Verification(_cosine((first, second), embeddings), threshold, (first, second))


def compare_pairs(embedder: Embedder,
                  cropper: FaceCropper,
                  pairs: Sequence[tuple[Path, Path]],
                  threshold: Threshold | None = None,
                  on_error: str = 'stop') -> list[Verification | PhotoError]:
    """Compares many pairs of photos; each photo is read and embedded once.

    Args:
        embedder: the network.
        cropper: cuts the faces out.
        pairs: the photos.
        threshold: from which similarity on two are taken for one person's.
        on_error: ``'stop'`` at a photo that cannot be used, or ``'skip'`` its pairs.

    Returns:
        For each pair its comparison (whose crops have no pixels any more) or what was wrong with one of its photos.

    Raises:
        PhotoError: a photo that cannot be used, unless skipped.
    """
    photos = list(dict.fromkeys(photo for pair in pairs for photo in pair))
    faces: dict[Path, tuple[FaceCrop, np.ndarray]] = {}
    problems: dict[Path, PhotoError] = {}
    for start in range(0, len(photos), _BATCH):
        used, crops, unused = crop_photos(cropper, photos[start:start + _BATCH], on_error)
        problems.update(zip((Path(error.path) for error in unused), unused, strict=True))
        if crops:
            embeddings = embedder.embed(np.stack([crop.image for crop in crops]))
            without_pixels = [dataclasses.replace(crop, image=crop.image[:0]) for crop in crops]
            faces.update(zip(used, zip(without_pixels, embeddings, strict=True), strict=True))
    return [_compare(pair, faces, problems, threshold, on_error) for pair in pairs]


def _compare(pair: tuple[Path, Path], faces: dict, problems: dict, threshold: Threshold | None, on_error: str) -> Verification | PhotoError:
    for photo in pair:
        if photo in problems:
            return problems[photo]
    crops, embeddings = zip(*(faces[photo] for photo in pair), strict=True)
    try:
        return Verification(_cosine(crops, np.stack(embeddings)), threshold, crops)
    except PhotoError as error:
        if on_error == 'stop':
            raise
        return error


def _cosine(crops: Sequence[FaceCrop], embeddings: np.ndarray) -> float:
    embeddings = embeddings.astype(np.float64)
    norms = np.linalg.norm(embeddings, axis=1)
    for crop, norm in zip(crops, norms, strict=True):
        if not (np.isfinite(norm) and norm):
            raise PhotoError(crop.path, f'the network gives an embedding of norm {norm:g} for it, which cannot be compared: is it a face?',
                             'no_direction')
    return float(np.clip(embeddings[0] @ embeddings[1] / norms.prod(), -1, 1))

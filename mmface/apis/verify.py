"""Do two photos show the same person?"""
from dataclasses import dataclass

import numpy as np

from .face_cropper import FaceCrop
from .onnx_backend import OnnxEmbedder
from .threshold import Threshold

CAUTION = """\
A similarity is not a probability that two photos show one person, and a threshold holds for images like those it was chosen on.
Nothing here tells a living face from a picture of one, or says that you may compare these people: that takes their consent."""


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
        lines = [*map(str, self.crops), f'similarity  {self.similarity:.4f}  (cosine, -1 to 1)']
        if self.threshold is None:
            lines += ['threshold   none: the model file carries none and none was given (--threshold T)', 'decision    none']
        else:
            lines += [
                f'threshold   {self.threshold.value:.4f}  ({self.threshold.source})',
                f'decision    {"same person" if self.same else "different people"}'
            ]
        return '\n'.join(lines)


def compare_faces(embedder: OnnxEmbedder, first: FaceCrop, second: FaceCrop, threshold: Threshold | None = None) -> Verification:
    """Compares two aligned faces of the size that the network eats.

    Raises:
        ValueError: the network gives a zero or non-finite embedding.
    """
    embeddings = embedder.embed(np.stack([first.image, second.image])).astype(np.float64)
    norms = np.linalg.norm(embeddings, axis=1)
    if not (np.isfinite(norms).all() and norms.all()):
        raise ValueError(f'{embedder.path}: the network gives embeddings of norm {norms[0]:g} and {norms[1]:g}, which cannot be compared')
    similarity = float(np.clip(embeddings[0] @ embeddings[1] / norms.prod(), -1, 1))
    return Verification(similarity, threshold, (first, second))

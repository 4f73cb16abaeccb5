"""Where pictures of procedural people come from."""
from functools import lru_cache

import cv2
import numpy as np

from .camera import photograph
from .face_identity import FaceIdentity
from .face_painter import FacePainter
from .face_view import FaceView


class ProceduralFaces:
    """Any number of people with any number of pictures each: a pure function of (seed, person, picture), whatever was drawn before.

    Args:
        seed: 0 or larger; another seed gives other people.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def identity(self, person: int) -> FaceIdentity:
        """What stays the same in all pictures of ``person``, 0 or larger."""
        return _identity(self.seed, person)

    def draw(self, person: int, picture: int) -> tuple[np.ndarray, FaceView]:
        """One picture as RGB uint8 ``[112, 112, 3]``, and what is special to it."""
        rng = np.random.default_rng((self.seed, person, picture + 1))
        view = FaceView.sample(rng)
        return photograph(FacePainter(self.identity(person), view).paint(), view, rng), view

    def jpeg(self, person: int, picture: int) -> bytes:
        """The same picture as a JPEG file of the quality that belongs to it."""
        image, view = self.draw(person, picture)
        return cv2.imencode('.jpg', cv2.cvtColor(image, cv2.COLOR_RGB2BGR), (cv2.IMWRITE_JPEG_QUALITY, view.quality))[1].tobytes()


@lru_cache(maxsize=16)
def _identity(seed: int, person: int) -> FaceIdentity:
    return FaceIdentity.sample(np.random.default_rng((seed, person, 0)))

"""Light and camera: from a painted face to the picture of it."""
import cv2
import numpy as np

from .face_view import FaceView

_RAMP = np.linspace(-1, 1, 112, dtype=np.float32)
_LEVELS = np.linspace(0, 1, 256)


def photograph(image: np.ndarray, view: FaceView, rng: np.random.Generator) -> np.ndarray:
    """Blur, light, noise and the tone curve of ``view``; RGB uint8 ``[112, 112, 3]`` in and out."""
    light = view.gain * (1 + view.light[0] * _RAMP[None, :] + view.light[1] * _RAMP[:, None]).clip(.1)
    grain = np.frombuffer(rng.bytes(2 * image.size), np.uint8).reshape(2, *image.shape)
    grain = cv2.subtract(grain[0], grain[1], dtype=cv2.CV_32F)  # triangular, standard deviation 104
    lit = cv2.multiply(cv2.GaussianBlur(image, (5, 5), view.blur), cv2.merge([light.astype(np.float32)] * 3), dtype=cv2.CV_32F)
    lit = cv2.addWeighted(lit, 1, grain, view.noise / 104, 0, dtype=cv2.CV_8U)
    return cv2.LUT(lit, (255 * _LEVELS**view.gamma).round().astype(np.uint8))

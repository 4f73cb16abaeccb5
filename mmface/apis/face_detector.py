"""Faces and their five landmarks in a photo: OpenCV's YuNet."""
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from mmface.zoo.download import fetch_file

YUNET_URL = ('https://media.githubusercontent.com/media/opencv/opencv_zoo/47534e27c9851bb1128ccc0102f1145e27f23f98/'
             'models/face_detection_yunet/face_detection_yunet_2026may.onnx')
"""YuNet (Wu et al., Machine Intelligence Research 2023), MIT licence, 230 kB; its input size is free, for OpenCV 4.8 to 5."""
YUNET_SHA256 = 'ebafce4e3c118d6554634be5c27ab333b4c047a9a8c3faf1d7cf93101c22f0f0'

WITHOUT_NETWORK = ('Without a network, fetch the file on another machine and give its path: --detector PATH, or for "mmface align" '
                   '--detector-file PATH')

LONG_SIDES = (640, 320, 1600)
"""Sizes to look at, in pixels, until one shows a face: YuNet sees faces of 10 to 300 px."""


@dataclass(frozen=True)
class DetectedFace:
    """One face, in pixels of the photo.

    Attributes:
        box: (x, y, width, height); may reach over the photo's edge.
        landmarks: float64 [5, 2], in the order of :mod:`mmface.functional.geometry`.
        score: the detector's confidence, 0 to 1.
    """
    box: tuple[float, float, float, float]
    landmarks: np.ndarray
    score: float

    @property
    def area(self) -> float:
        return self.box[2] * self.box[3]

    def to_dict(self) -> dict:
        """Numbers and lists only, for JSON."""
        return dict(box=list(self.box), landmarks=self.landmarks.tolist(), score=self.score)


class FaceDetector:
    """Finds faces with YuNet.

    Args:
        path: the detector's ONNX file; None takes the one of the OpenCV Zoo, fetched once into MMEngine's cache.
        min_score: least confidence of a face, 0 to 1.

    Raises:
        DownloadError: no file was given and none can be fetched.
        ValueError: the file is not a YuNet.
    """

    def __init__(self, path: str | Path | None = None, min_score: float = .7) -> None:
        self.path = fetch_file(YUNET_URL, YUNET_SHA256, WITHOUT_NETWORK) if path is None else Path(path)
        if not self.path.is_file():
            raise ValueError(f'{self.path}: there is no such detector file')
        try:
            with _quiet():
                self._net = cv2.FaceDetectorYN.create(str(self.path), '', LONG_SIDES[:1] * 2, min_score, nms_threshold=.3, top_k=5000)
            self.detect(np.zeros((64, 64, 3), np.uint8))
        except cv2.error as error:
            raise ValueError(f'{self.path}: not a YuNet detector that OpenCV {cv2.__version__} can run ({error.err})') from error

    def detect(self, image: np.ndarray) -> list[DetectedFace]:
        """The faces of a photo, uint8 RGB [H, W, 3], largest first."""
        longest = max(image.shape[:2])
        for scale in dict.fromkeys(min(1., side / longest) for side in LONG_SIDES):
            faces = self._detect_at(image, scale)
            if faces:
                return sorted(faces, key=lambda face: -face.area)
        return []

    def _detect_at(self, image: np.ndarray, scale: float) -> list[DetectedFace]:
        height, width = (max(1, round(side * scale)) for side in image.shape[:2])
        if (height, width) != image.shape[:2]:
            image = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        self._net.setInputSize((width, height))
        rows = self._net.detect(cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1]
        rows = np.zeros((0, 15)) if rows is None else rows.astype(np.float64)
        return [DetectedFace(tuple((row[:4] / scale).tolist()), row[4:14].reshape(5, 2) / scale, float(row[14])) for row in rows]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without OpenCV 5's remark that its new engine has no targets to choose from; OpenCV 4 makes none."""
    logging = getattr(cv2.utils, 'logging', None)
    if logging is None:
        yield
        return
    level = logging.setLogLevel(logging.LOG_LEVEL_ERROR)  # returns the one before
    try:
        yield
    finally:
        logging.setLogLevel(level)

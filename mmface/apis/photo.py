"""A photo from disk, as a person would see it."""
from pathlib import Path

import cv2
import numpy as np

from mmface.datasets.decode import decode_image


class PhotoError(ValueError):
    """A photo that cannot be used. The message names the file, says what is wrong with it and what to do.

    Attributes:
        path: the file.
        problem: what is wrong, with the way out.
    """

    def __init__(self, path: str | Path, problem: str) -> None:
        super().__init__(f'{path}: {problem}')
        self.path, self.problem = str(path), problem


def read_photo(path: str | Path) -> np.ndarray:
    """Reads an image file by its content, turned upright as its EXIF orientation says.

    Returns:
        uint8 RGB [H, W, 3].

    Raises:
        PhotoError: no such file, or nothing that can be decoded completely.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PhotoError(path, f'cannot be read: {error.strerror}') from error
    try:
        image = decode_image(data)
    except ValueError as error:
        raise PhotoError(path, str(error)) from error
    if data.startswith(b'\xff\xd8\xff'):  # cameras write the orientation into JPEGs; OpenCV follows it unless told not to
        return cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    return image

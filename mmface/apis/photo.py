"""A photo from disk, as a person would see it."""
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mmface.datasets.decode import MAX_PIXELS, decode_image

PHOTO_SUFFIXES = ('.jpg', '.jpeg', '.png', '.bmp', '.webp', '.gif', '.tif', '.tiff', '.ppm', '.pgm')

VIDEO_SUFFIXES = ('.mp4', '.avi', '.mov', '.mkv', '.webm', '.m4v')


class PhotoError(ValueError):
    """A photo that cannot be used. The message names the file, says what is wrong with it and what to do.

    Attributes:
        path: the file.
        problem: what is wrong, with the way out.
        kind: ``'unreadable'``, ``'no_face'``, ``'several_faces'``, ``'tiny_face'``, ``'implausible_landmarks'``, ``'size'`` or
            ``'no_direction'``.
    """

    def __init__(self, path: str | Path, problem: str, kind: str = 'unreadable') -> None:
        super().__init__(f'{path}: {problem}')
        self.path, self.problem, self.kind = str(path), problem, kind


def read_photo(path: str | Path) -> np.ndarray:
    """Reads an image file by its content, turned upright as its EXIF orientation says.

    Returns:
        uint8 RGB [H, W, 3].

    Raises:
        PhotoError: no such file, or nothing that can be decoded completely.
    """
    if Path(path).suffix.lower() in VIDEO_SUFFIXES:
        raise PhotoError(path, 'a video, and a photo is wanted: take a frame of it (FaceInferencer looks at all of them)')
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PhotoError(path, f'cannot be read: {error.strerror}') from error
    return decode_photo(data, path)


def decode_photo(data: bytes, path: str | Path, max_pixels: int = MAX_PIXELS) -> np.ndarray:
    """Decodes a photo that is in memory, see :func:`read_photo`.

    Args:
        data: the file's bytes.
        path: what to call it.
        max_pixels: larger ones are not decoded.
    """
    try:
        return decode_image(data, upright=True, max_pixels=max_pixels)
    except ValueError as error:
        raise PhotoError(path, str(error)) from error


def photo_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files among ``paths``, and for a folder the images in it, at any depth and in the order of their names.

    Raises:
        PhotoError: a folder without an image.
    """
    files = []
    for path in map(Path, paths):
        inside = sorted(file for file in path.rglob('*') if file.suffix.lower() in PHOTO_SUFFIXES)
        if path.is_dir() and not inside:
            raise PhotoError(path, 'no image in this folder')
        files += inside if path.is_dir() else [path]
    return files

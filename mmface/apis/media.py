"""Pictures from anything that holds some: files, folders, videos, arrays."""
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from .photo import PHOTO_SUFFIXES, VIDEO_SUFFIXES, PhotoError, read_photo


@dataclass(frozen=True)
class Picture:
    """A picture and where it came from.

    Attributes:
        name: the file, or ``'array 3'``.
        image: uint8 RGB [H, W, 3].
        frame: the number of the frame, from 0, in a video.
    """
    name: str
    image: np.ndarray
    frame: int | None = None


def list_media(inputs: str | Path | np.ndarray | Iterable) -> list:
    """One input or several as a list; a folder becomes the photos and videos in it, at any depth and in the order of their names.

    Raises:
        PhotoError: a folder that holds none.
    """
    items = [inputs] if isinstance(inputs, (str, Path, np.ndarray)) else list(inputs)
    found: list = []
    for item in items:
        if isinstance(item, (str, Path)) and Path(item).is_dir():
            inside = sorted(file for file in Path(item).rglob('*') if file.suffix.lower() in (*PHOTO_SUFFIXES, *VIDEO_SUFFIXES))
            if not inside:
                raise PhotoError(item, 'no image and no video in this folder')
            found += inside
        else:
            found.append(item)
    return found


def pictures(item: str | Path | np.ndarray, number: int) -> Iterator[Picture]:
    """The pictures of one input: one, or every frame of a video.

    Args:
        item: a file, or uint8 RGB [H, W, 3].
        number: of the input, which names an array.

    Raises:
        PhotoError: not readable, or an array of another kind.
    """
    if isinstance(item, np.ndarray):
        if item.dtype != np.uint8 or item.ndim != 3 or item.shape[2] != 3 or not item.size:
            raise PhotoError(f'array {number}', f'expected uint8 RGB [H, W, 3], got {item.dtype} {list(item.shape)}')
        yield Picture(f'array {number}', item)
    elif Path(item).suffix.lower() in VIDEO_SUFFIXES:
        yield from _frames(Path(item))
    else:
        yield Picture(str(item), read_photo(item))


def _frames(path: Path) -> Iterator[Picture]:
    video = cv2.VideoCapture(str(path))
    try:
        number = 0
        while True:
            there, frame = video.read()
            if not there:
                break
            yield Picture(str(path), cv2.cvtColor(frame, cv2.COLOR_BGR2RGB), number)
            number += 1
        if not number:
            raise PhotoError(path, 'no frame of this video can be read: is it there, complete, and of a kind that OpenCV plays?')
    finally:
        video.release()

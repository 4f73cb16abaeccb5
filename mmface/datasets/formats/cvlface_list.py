"""CVLface's lists of images: ``train.tsv``, with ``ldmk_5points.csv`` beside it."""
from pathlib import Path
from typing import Any

import numpy as np

from .common.columns import line_of, read_columns
from .common.image_list import ImageList
from .errors import DataFormatError
from .table import RECORDS

_COORDINATES = [f'ldmk_{at}' for at in range(10)]


@RECORDS.register('cvlface_list')
class CVLFaceList(ImageList):
    """Lines of ``index TAB path TAB class``.

    Attributes:
        landmarks: None, or float64 ``[N, 5, 2]``, x and y as shares of the width and height, NaN where the file has none.

    Args:
        landmarks: a file like ``ldmk_5points.csv``: a header, then ``idx`` and ten coordinates x1, y1, ..., y5. ``idx`` is the rank of the
            image in the list, from 0.
    """
    fields = '"index TAB path TAB class"'

    def __init__(self, path: Path, landmarks: str | Path | None = None, **options: Any) -> None:
        super().__init__(path, **options)
        self.landmarks = None if landmarks is None else _read_landmarks(Path(landmarks), len(self))

    def take(self, fields: list[str], where: str) -> tuple[str, str]:
        if len(fields) != 3:
            raise self.refuse(where, f'{len(fields)} field{"s"[:len(fields) != 1]}')
        if not fields[0].isdecimal():
            raise self.refuse(where, f'index {fields[0]!r}')
        return fields[1], fields[2]


def _read_landmarks(path: Path, images: int) -> np.ndarray:
    table = read_columns(path, [('idx', int), *((name, float) for name in _COORDINATES)], ',')
    outside = np.flatnonzero((table['idx'] < 0) | (table['idx'] >= images))
    if outside.size:
        row = int(outside[0])
        raise DataFormatError(path, line_of(path, row, header=True), f'idx {table["idx"][row]}', f'the list has {images} images, from 0')
    landmarks = np.full((images, 10), np.nan)
    landmarks[table['idx']] = np.stack([table[name] for name in _COORDINATES], 1)
    return landmarks.reshape(images, 5, 2)

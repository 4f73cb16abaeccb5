"""InsightFace's lists of images: ``train.lst``."""
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .common.image_list import ImageList
from .errors import DataFormatWarning
from .table import RECORDS


@RECORDS.register('insightface_list')
class InsightFaceList(ImageList):
    """Lines of ``aligned TAB path TAB class``, and for images that are not aligned 4 numbers of a box and 10 of landmarks.

    Attributes:
        aligned: bool ``[N]``.
        boxes: float32 ``[N, 4]`` as they stand in the list, NaN where a line has none.
        landmarks: float32 ``[N, 5, 2]``, x and y in pixels, NaN where a line has none; in the list all x come before all y.
    """
    fields = '"aligned TAB path TAB class", with 0, 4 or 14 numbers behind it'

    def __init__(self, path: Path, **options: Any) -> None:
        self._aligned: list[bool] = []
        self._numbers: dict[int, list[float]] = {}
        super().__init__(path, **options)
        n = len(self._aligned)
        self.aligned = np.array(self._aligned)
        numbers = np.full((n, 14), np.nan, np.float32)
        for at, values in self._numbers.items():
            numbers[at, :len(values)] = values
        self.boxes = numbers[:, :4]
        self.landmarks = numbers[:, 4:].reshape(n, 2, 5).transpose(0, 2, 1)
        del self._aligned, self._numbers
        if not self.aligned.all():
            self._warn_of_loose_faces()

    def take(self, fields: list[str], where: str) -> tuple[str, str]:
        if len(fields) not in (3, 7, 17):
            raise self.refuse(where, f'{len(fields)} fields')
        aligned, file, label, *numbers = fields
        if aligned not in ('0', '1'):
            raise self.refuse(where, f'aligned flag {aligned!r}')
        if numbers:
            try:
                self._numbers[len(self._aligned)] = [float(number) for number in numbers]
            except ValueError as error:
                raise self.refuse(where, str(error)) from None
        self._aligned.append(aligned == '1')
        return file, label

    def _warn_of_loose_faces(self) -> None:
        loose = np.flatnonzero(~self.aligned)
        warnings.warn(DataFormatWarning(self.list, self.where(int(loose[0])), f'{len(loose)} images are not aligned',
                                        'cut them out by their landmarks before training'), stacklevel=4)

"""What every reader offers."""
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mmface.structures import PairSet, SearchSet, TemplateSet


class Reader(Protocol):
    """N encoded images on disk. Survives ``fork`` and pickles into workers; raises ``DataFormatError``."""
    path: Path

    def __init__(self, path: Path, **options: Any) -> None:
        ...

    @staticmethod
    def sniff(path: Path) -> bool:
        """Whether an existing path looks like this format. Cheap; broken content is no reason to raise."""
        ...

    def __len__(self) -> int:
        ...

    def read(self, index: int) -> bytes | memoryview:
        """The encoded image ``index``, from 0."""
        ...

    def where(self, index: int) -> str:
        """The place of image ``index`` inside ``path``, for messages: ``'record 12'``, ``'Ada/Ada_0001.jpg'``."""
        ...


class Records(Reader, Protocol):
    """A training set.

    Attributes:
        labels: int64 ``[N]``, each in ``[0, num_classes)``.
        num_classes: as the data say.
        classes: name -> label, or None where classes have no names.
    """
    labels: np.ndarray
    num_classes: int
    classes: dict[str, int] | None


class EvalImages(Reader, Protocol):
    """The images of an evaluation set, in the order of ``set.paths``."""
    set: PairSet | TemplateSet | SearchSet

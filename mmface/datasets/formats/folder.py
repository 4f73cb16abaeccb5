"""Training sets that are folders of images, one directory an identity."""
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .common.class_sizes import log_class_sizes
from .common.folder_walk import SUFFIXES, FolderWalk
from .common.packed_strings import PackedStrings
from .errors import DataFormatError
from .table import RECORDS

_LARGEST = 1 << 31


@RECORDS.register('folder')
class ImageFolder:
    """A class is the directory of an image, relative to the root.

    That covers ``<class>/<image>``, WebFace's ``<n>/<class>/<image>`` and any deeper tree. Which number a class gets is a matter of choice,
    and a checkpoint is of no use without it: ``classes`` is saved with every checkpoint. What is no image is left out, see
    :class:`FolderWalk`; images are decoded by content, whatever their suffix.

    Attributes:
        path: the root.
        files: paths of the N images relative to it, with ``/``, in the order of classes and names, numbers compared as numbers.
        labels: int64 ``[N]``.
        num_classes: the largest label + 1.
        classes: directory -> label.

    Args:
        path: the root.
        labels: ``'rank'``: the directory's rank, numbers in names compared as numbers, so that ``2`` comes before ``10`` and ``id_2``
            before ``id_10``; ``'text'``: its rank as text, which is what torchvision's ``ImageFolder`` and so AdaFace's training take;
            ``'name'``: the number in its name, for sets whose directories are the class numbers (``10``, ``id_10``).

    Raises:
        DataFormatError: where no directory has an image; for ``'name'``, where a name has not exactly one number, or two have the same.
    """

    def __init__(self, path: Path, labels: Literal['rank', 'text', 'name'] = 'rank') -> None:
        if labels not in _ORDERS:
            raise ValueError(f'labels={labels!r}: expected one of {", ".join(map(repr, _ORDERS))}')
        self.path = path
        walk = FolderWalk(path)
        names = sorted((name for name, images in walk.images.items() if name and images), key=_ORDERS[labels])
        if not names:
            raise DataFormatError(path, value='no image in any directory of this folder', hint='expected one directory an identity')
        walk.tell()
        numbers = self._numbers(names) if labels == 'name' else list(range(len(names)))
        self.classes: dict[str, int] | None = dict(zip(names, numbers, strict=True))
        self.labels = np.repeat(np.array(numbers, np.int64), [len(walk.images[name]) for name in names])
        self.num_classes = max(numbers) + 1
        self.files = PackedStrings(f'{name}/{file}' for name in names for file in sorted(walk.images.pop(name), key=_natural))
        log_class_sizes(path, self.labels, self.num_classes)

    @staticmethod
    def sniff(path: Path) -> bool:
        if not path.is_dir() or any(path.glob('*.rec')):
            return False
        entries = [entry for entry in os.scandir(path) if not entry.name.startswith('.')]
        return not entries or any(entry.is_dir() or entry.name.lower().endswith(SUFFIXES) for entry in entries)

    def __len__(self) -> int:
        return len(self.files)

    def read(self, index: int) -> bytes:
        file = self.files[index]
        try:
            with open(os.path.join(self.path, file), 'rb') as opened:
                return opened.read()
        except OSError as error:
            raise DataFormatError(self.path, file, error.strerror or str(error)) from None

    def where(self, index: int) -> str:
        return self.files[index]

    def _numbers(self, names: list[str]) -> list[int]:
        """The number in the last part of each name."""
        numbers: dict[int, str] = {}
        for name in names:
            found = re.findall('[0-9]+', name.rpartition('/')[2])
            if len(found) != 1 or int(found[0]) >= _LARGEST:
                raise DataFormatError(self.path, name, 'no class number in this name' if not found else f'number {" and ".join(found)}',
                                      "labels='name' needs one number in each, such as 10 or id_10; labels='rank' needs none")
            number = int(found[0])
            if number in numbers:
                raise DataFormatError(self.path, f'{numbers[number]} and {name}', f'both are class {number}',
                                      "rename one, or take labels='rank'")
            numbers[number] = name
        return list(numbers)


def _natural(name: str) -> tuple:
    """Sorts runs of digits as numbers; equal numbers (``1``, ``01``) as text."""
    parts = re.split('([0-9]+)', name)
    return [int(part) if at % 2 else part for at, part in enumerate(parts)], name


_ORDERS: dict[str, Callable[[str], Any]] = {'rank': _natural, 'text': str, 'name': _natural}

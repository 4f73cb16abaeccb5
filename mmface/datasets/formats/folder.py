"""Training sets that are folders of images, one directory an identity."""
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np

from .errors import DataFormatError, DataFormatWarning
from .table import RECORDS

_SUFFIXES = ('.jpg', '.jpeg', '.png', '.bmp', '.webp', '.gif', '.tif', '.tiff')


@RECORDS.register('folder')
class ImageFolder:
    """A class is the directory of an image, relative to the root; its number is the directory's rank, numbers in names compared as numbers.

    So ``2`` comes before ``10`` and ``id_2`` before ``id_10``, unlike in torchvision, which sorts as text. Hidden files (``.DS_Store``,
    ``._x.jpg``) and files that are no images by their suffix are not part of the set; images are decoded by content.

    Attributes:
        path: the root.
        files: paths of the N images relative to it, with ``/``.
        labels: int64 ``[N]``.
        num_classes: directories with an image.
        classes: directory -> label.

    Raises:
        DataFormatError: where no directory has an image.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        folders = dict(_walk(path))
        names = sorted((name for name, files in folders.items() if files and name != '.'), key=_natural)
        if not names:
            raise DataFormatError(path, value='no image in any directory of this folder', hint='expected one directory an identity')
        _warn_of_leftovers(path, folders)
        self.classes = {name: label for label, name in enumerate(names)}
        self.files = [f'{name}/{file}' for name in names for file in sorted(folders[name], key=_natural)]
        self.labels = np.repeat(np.arange(len(names)), [len(folders[name]) for name in names])
        self.num_classes = len(names)

    @staticmethod
    def sniff(path: Path) -> bool:
        if not path.is_dir() or any(path.glob('*.rec')):
            return False
        entries = [entry for entry in os.scandir(path) if not entry.name.startswith('.')]
        return not entries or any(entry.is_dir() or entry.name.lower().endswith(_SUFFIXES) for entry in entries)

    def __len__(self) -> int:
        return len(self.files)

    def read(self, index: int) -> bytes:
        with open(os.path.join(self.path, self.files[index]), 'rb') as file:
            return file.read()

    def where(self, index: int) -> str:
        return self.files[index]


def _walk(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields every directory, relative to the root, with its images. Links are followed, but no directory is entered twice."""
    seen = set()
    for folder, inner, files in os.walk(root, followlinks=True):
        status = os.stat(folder)
        inner[:] = [name for name in inner if not name.startswith('.')]
        if (status.st_dev, status.st_ino) in seen:
            inner.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        name = PurePosixPath(Path(folder).relative_to(root)).as_posix()
        yield name, [file for file in files if file.lower().endswith(_SUFFIXES) and not file.startswith('.')]


def _warn_of_leftovers(root: Path, folders: dict[str, list[str]]) -> None:
    if folders['.']:
        value = f'{len(folders["."])} images beside the directories, such as {folders["."][0]}'
        warnings.warn(DataFormatWarning(root, value=value, hint='they belong to no identity and are left out'), stacklevel=2)
    filled = [PurePosixPath(name) for name, files in folders.items() if files]
    above = {folder.as_posix() for name in filled for folder in (name, *name.parents)}
    empty = sorted(name for name in folders if name not in above and name != '.')
    if empty:
        where, value = ', '.join(empty[:3]) + ' ...' * (len(empty) > 3), f'no image in {len(empty)} of {len(folders) - 1} directories'
        warnings.warn(DataFormatWarning(root, where, value, 'they are no classes'), stacklevel=2)


def _natural(name: str) -> tuple:
    """Sorts runs of digits as numbers; equal numbers (``1``, ``01``) as text."""
    parts = re.split('([0-9]+)', name)
    return [int(part) if at % 2 else part for at, part in enumerate(parts)], name

"""Pair sets in the layout of Labeled Faces in the Wild: ``<Name>/<Name>_0001.jpg`` and a list of pairs.

Huang, Ramesh, Berg and Learned-Miller, Labeled Faces in the Wild, 2007, http://vis-www.cs.umass.edu/lfw/.
"""
import re
from pathlib import Path

import numpy as np

from mmface.structures import PairSet

from .errors import DataFormatError
from .lfw_pairs import ImageKey, read_pairs
from .table import EVALS

_SUFFIXES = ('.jpg', '.jpeg', '.png')
_FIRST_LINES = re.compile(r'\s*([0-9]+\s*([0-9]+\s*)?|\S+\s+\S+\s+(\S+\s+)?[0-9]+\s*)')


@EVALS.register('lfw')
class LFW:
    """An LFW-layout folder with its list of pairs.

    ``set.paths`` are the images that the pairs name, sorted by person and number, as paths that can be opened.

    Args:
        path: the list, or a folder with ``pairs.txt``.
        images: the folder of the images; by default the list's own or, where the people are not there, the folder inside it that has them.
        name: what results are called after.
        fold_size: matched pairs a fold, for a list without the first line that says so.
        lists_only: checks the list alone, there are no images to read.

    Raises:
        DataFormatError: for a broken list, naming the line; for missing images, with their number and the first few.
    """

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 name: str = 'lfw',
                 fold_size: int | None = None,
                 lists_only: bool = False) -> None:
        pair_list = path / 'pairs.txt' if path.is_dir() else path
        pairs = read_pairs(pair_list, fold_size)
        keys = sorted({key for pair in pairs for key in pair[:2]})
        self.path = Path(images) if images is not None else _root_of(pair_list.parent, keys[0].person)
        self.files = [key.stem + _SUFFIXES[0] for key in keys] if lists_only else _find(self.path, keys)
        row = {key: at for at, key in enumerate(keys)}
        self.set = PairSet(
            name=name,
            paths=[str(self.path / file) for file in self.files],
            pairs=np.array([[row[pair.first], row[pair.second]] for pair in pairs]),
            same=np.array([pair.same for pair in pairs]),
            fold=np.array([pair.fold for pair in pairs]),
            identities=[key.person for key in keys])

    @staticmethod
    def sniff(path: Path) -> bool:
        if path.is_dir():
            return (path / 'pairs.txt').is_file()
        with path.open('rb') as file:
            head = file.read(4096).decode('utf-8-sig', 'replace').strip().splitlines()[:1]
        return path.suffix == '.txt' and any(_FIRST_LINES.fullmatch(line) for line in head)

    def __len__(self) -> int:
        return len(self.files)

    def read(self, index: int) -> bytes:
        return (self.path / self.files[index]).read_bytes()

    def where(self, index: int) -> str:
        return self.files[index]


def _root_of(folder: Path, person: str) -> Path:
    """The folder that holds the person's directory: this one, or one directly inside it."""
    if (folder / person).is_dir():
        return folder
    return next((inner for inner in sorted(folder.iterdir()) if (inner / person).is_dir()), folder)


def _find(root: Path, keys: list[ImageKey]) -> list[str]:
    """The file of every image, relative to ``root``."""
    files, missing = [], []
    for key in keys:
        found = [key.stem + suffix for suffix in _SUFFIXES if (root / (key.stem + suffix)).is_file()]
        files += found[:1]
        missing += [] if found else [key.stem + _SUFFIXES[0]]
    if missing:
        raise DataFormatError(root, value=f'{len(missing)} of the {len(keys)} images that the pairs name are missing',
                              hint=', '.join(missing[:5]) + ' ...' * (len(missing) > 5))
    return files

"""Pair sets in the layout of Labeled Faces in the Wild: ``<Name>/<Name>_0001.jpg`` and a list of pairs.

Huang, Ramesh, Berg and Learned-Miller, Labeled Faces in the Wild, 2007, http://vis-www.cs.umass.edu/lfw/.
"""
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from .common.pair_lists import PairList, find_folder, read_first_line
from .lfw_pairs import ImageKey, read_pairs
from .table import EVALS

_SUFFIXES = ('.jpg', '.jpeg', '.png')
_FIRST_LINES = re.compile(r'[0-9]+(\s+[0-9]+)?|(?=\S*[^\s0-9])(?!\S+\.(jpg|png)\s)\S+\s+\S+\s+(\S+\s+)?[0-9]+', re.IGNORECASE)


@EVALS.register('lfw')
class LFW(PairList):
    """An LFW-layout folder with its list of pairs.

    ``set.paths`` are the images that the pairs name, sorted by person and number, as paths that can be opened.

    Args:
        path: the list, or a folder with ``pairs.txt``.
        images: the folder of the images; by default the list's own or, where the people are not there, the folder inside it that has them.
        name: what results are called after; by default the format's name.
        fold_size: matched pairs a fold, for a list without the first line that says so.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for a broken list, naming the line; for missing images, with their number and the first few.
    """
    set_name = 'lfw'
    list_name = 'pairs.txt'
    lists: ClassVar[re.Pattern] = re.compile(r'(?!xqlfw).*\.txt')
    preferred: Sequence[str] = ()

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 name: str | None = None,
                 fold_size: int | None = None,
                 lists_only: bool = False) -> None:
        pair_list = path / self.list_name if path.is_dir() else path
        pairs = read_pairs(pair_list, fold_size)
        keys = sorted({key for pair in pairs for key in pair[:2]})
        found = Path(images) if images is not None else find_folder(pair_list.parent, {key.person for key in keys}, self.preferred)
        root = found or pair_list.parent
        super().__init__(name or self.set_name, root, keys, [find_image(root, key) for key in keys], pairs, [key.person for key in keys])
        if not lists_only:
            self.require(found is not None)

    @classmethod
    def sniff(cls, path: Path) -> bool:
        if path.is_dir():
            return (path / cls.list_name).is_file()
        return bool(cls.lists.fullmatch(path.name.lower()) and _FIRST_LINES.fullmatch(read_first_line(path)))


def find_image(root: Path, key: ImageKey) -> str:
    """The file of an image, relative to ``root``; the one with ``.jpg`` where there is none."""
    return next((key.stem + suffix for suffix in _SUFFIXES if (root / (key.stem + suffix)).is_file()), key.stem + _SUFFIXES[0])

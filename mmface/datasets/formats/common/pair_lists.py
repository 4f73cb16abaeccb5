"""What readers of lists of pairs share: lines, pairs, and the set that they make."""
import os
import re
import warnings
from collections.abc import Callable, Collection, Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mmface.structures import PairSet

from ..errors import DataFormatError, DataFormatWarning
from .image_files import ImageFiles
from .placeholders import refuse_placeholder

_SHOWN = 3
_PATH = re.compile(r'[/\\\0]')


class Line(NamedTuple):
    """A line with something on it, and its number, from 1."""
    number: int
    text: str


class Pair(NamedTuple):
    """Two images, whether they show one person, the fold, from 0, and the place in the list: ``'line 3'``."""
    first: Any
    second: Any
    same: bool
    fold: int
    where: str


def read_lines(path: Path) -> list[Line]:
    """The lines of a list. A byte order mark, CRLF and blank lines are accepted.

    Raises:
        DataFormatError: where there is none, or one is not UTF-8.
    """
    data = path.read_bytes().removeprefix(b'\xef\xbb\xbf')
    refuse_placeholder(path, data[:64])
    lines = []
    for number, raw in enumerate(data.splitlines(), 1):
        try:
            text = raw.decode('utf-8').strip()
        except UnicodeDecodeError as error:
            raise DataFormatError(path, f'line {number}', f'byte {raw[error.start]:#04x} is not UTF-8', 'save the list as UTF-8') from None
        if text:
            lines.append(Line(number, text))
    if not lines:
        raise DataFormatError(path, value='empty', hint='expected pairs')
    return lines


def read_first_line(path: Path) -> str:
    """The first line of any file, empty where the file is; for telling formats apart."""
    with path.open('rb') as file:
        head = file.read(4096).decode('utf-8-sig', 'replace').strip()
    return head.splitlines()[0].strip() if head else ''


def check_name(path: Path, where: str, name: str) -> str:
    """Returns ``name``.

    Raises:
        DataFormatError: where it is a path or hidden instead of the plain name of a file or directory.
    """
    if not name or name.startswith('.') or _PATH.search(name):
        raise DataFormatError(path, where, f'name {name!r}', 'expected a plain name, not a path')
    return name


def warn_of_oddities(path: Path, pairs: Sequence[Pair], person: Callable[[Any], str]) -> None:
    """Warns once a kind of pairs that a list should not have, with the first few places; ``person`` names whom an image shows."""
    seen: dict[frozenset, Pair] = {}
    places: dict[str, list[str]] = {}
    for pair in pairs:
        before = seen.setdefault(frozenset(pair[:2]), pair)
        alike = person(pair.first) == person(pair.second)
        if pair.first == pair.second:
            places.setdefault('an image paired with itself', []).append(pair.where)
        if alike is not pair.same:
            places.setdefault('mismatched pair of one person' if alike else 'matched pair of two people', []).append(pair.where)
        if before is not pair:
            value = 'the same pair' if before.fold == pair.fold else 'the same pair in two folds'
            places.setdefault(value, []).append(_both(before.where, pair.where))
    for value, found in places.items():
        where = ', '.join(found[:_SHOWN]) + f' and {len(found) - _SHOWN} more' * (len(found) > _SHOWN)
        warnings.warn(DataFormatWarning(path, where, value, 'counted as it stands'), stacklevel=2)


def _both(first: str, second: str) -> str:
    """``'lines 2 and 3'`` from ``'line 2'`` and ``'line 3'``."""
    (kind, number), (other_kind, other_number) = first.rsplit(' ', 1), second.rsplit(' ', 1)
    return f'{kind}s {number} and {other_number}' if kind == other_kind else f'{first} and {second}'


def find_folder(folder: Path, names: Collection[str], preferred: Sequence[str] = ()) -> Path | None:
    """The folder that holds some of ``names``: this one, one of ``preferred`` inside it, or any inside it. None where none does."""
    inner = [entry.name for entry in os.scandir(folder) if entry.is_dir()]
    for name in ('.', *preferred, *sorted(inner)):
        if (folder / name).is_dir() and not set(names).isdisjoint(os.listdir(folder / name)):
            return folder / name
    return None


class PairList(ImageFiles):
    """The M images that a list of pairs names.

    Args:
        name: what results are called after.
        root: the folder of the images.
        images: the keys of the images, which ``pairs`` uses, in the order of ``set.paths``.
        files: the files of the images, relative to ``root``.
        pairs: the pairs.
        identities: the person whom each image shows.
        groups: see :class:`PairSet`.
    """

    def __init__(self, name: str, root: Path, images: Sequence[Hashable], files: Sequence[str], pairs: Sequence[Pair],
                 identities: Sequence[str], groups: Sequence[str] | None = None) -> None:
        super().__init__(root, files)
        row = {image: at for at, image in enumerate(images)}
        self.set = PairSet(
            name=name,
            paths=[str(root / file) for file in files],
            pairs=np.array([[row[pair.first], row[pair.second]] for pair in pairs]),
            same=np.array([pair.same for pair in pairs]),
            fold=np.array([pair.fold for pair in pairs]),
            identities=identities,
            groups=groups)

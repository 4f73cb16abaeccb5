"""The text of ``pairs_CALFW.txt`` and ``pairs_CPLFW.txt``: two lines ``file token`` a pair, first all matched pairs, then the others."""
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import DataFormatError, read_each
from .pair_lists import Line, Pair, PairList, check_name, find_folder, read_first_line, read_lines, warn_of_oddities

_LINE = re.compile(r'(\S.*?)\s+([0-9]{1,4})')
_FIRST_LINE = re.compile(r'(?:\.\./)?[^\s/]+\.(jpg|jpeg|png|bmp)\s+[0-9]{1,2}', re.IGNORECASE)
_PERSON = re.compile(r'(.+)_[0-9]+\.[A-Za-z]+')
_PREFERRED = ('aligned images', 'aligned_images')


class FilePair(NamedTuple):
    """Two files, the token of their lines, and the first of these, from 1."""
    first: str
    second: str
    token: int
    line: int


def read_file_pairs(path: Path) -> list[FilePair]:
    """The pairs in the order of the list.

    Raises:
        DataFormatError: naming the line or the two lines, from 1, and what is wrong with them.
    """
    lines = read_lines(path)
    if len(lines) % 2:
        raise DataFormatError(path, value=f'{len(lines)} lines, expected an even number', hint='a pair is two lines')
    read = read_each(lambda line: _read_line(path, line), lines)
    return read_each(lambda at: _join(path, lines[at], lines[at + 1], read[at:at + 2]), range(0, len(lines), 2))


def _read_line(path: Path, line: Line) -> tuple[str, int]:
    match = _LINE.fullmatch(line.text)
    if not match:
        raise DataFormatError(path, f'line {line.number}', repr(line.text[:80]), 'expected "file token"')
    return check_name(path, f'line {line.number}', match[1]), int(match[2])


def _join(path: Path, line: Line, following: Line, read: list[tuple[str, int]]) -> FilePair:
    (first, token), (second, other) = read
    if token != other:
        raise DataFormatError(path, f'lines {line.number} and {following.number}', f'tokens {token} and {other}', 'they are one pair')
    return FilePair(first, second, token, line.number)


def looks_like_file_pairs(path: Path) -> bool:
    """Whether the first line of a text file is ``<image> <token>``."""
    return path.suffix == '.txt' and bool(_FIRST_LINE.fullmatch(read_first_line(path)))


def has_large_tokens(path: Path) -> bool:
    """Whether a token beyond 1, a fold, is among the first million bytes."""
    with path.open('rb') as file:
        return bool(re.search(rb'\s([2-9]|1[0-9])\s*$', file.read(1 << 20), re.MULTILINE))


class FilePairs(PairList):
    """Files in one folder with a list of this syntax, in the order of the protocol: fold after fold, matched pairs first.

    Args:
        name: what results are called after.
        pair_list: the list.
        pairs: the pairs in it.
        fold: int ``[N]``, their folds.
        images: the folder of the images; by default ``aligned images`` beside the list, or where the files are found.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for missing images, with their number and the first few.
    """

    def __init__(self, name: str, pair_list: Path, pairs: list[FilePair], fold: np.ndarray, images: str | Path | None,
                 lists_only: bool) -> None:
        ordered = [Pair(pair.first, pair.second, pair.token > 0, at, f'line {pair.line}')
                   for pair, at in zip(pairs, fold.tolist(), strict=True)]
        warn_of_oddities(pair_list, ordered, person_of)
        ordered.sort(key=lambda pair: (pair.fold, not pair.same))
        files = sorted({file for pair in ordered for file in pair[:2]})
        found = Path(images) if images is not None else find_folder(pair_list.parent, files, _PREFERRED)
        super().__init__(name, found or pair_list.parent, files, files, ordered, [person_of(file) for file in files])
        if not lists_only:
            self.require(found is not None)


def person_of(file: str) -> str:
    """``'Ada_Lovelace'`` of ``'Ada_Lovelace_0001.jpg'``."""
    match = _PERSON.fullmatch(file)
    return match[1] if match else file

"""The text of LFW's ``pairs.txt`` and ``pairsDev*.txt``, and of the many lists written like them."""
import re
from pathlib import Path
from typing import NamedTuple

from .common.pair_lists import Line, Pair, check_name, read_lines, warn_of_oddities
from .errors import DataFormatError, read_each

_FIELDS = 'expected "name i j" for matched and "name i name j" for mismatched pairs'
_NUMBER = re.compile('[0-9]{1,9}')


class ImageKey(NamedTuple):
    """Image ``number``, from 1, of a person."""
    person: str
    number: int

    @property
    def stem(self) -> str:
        """Where the image is in an LFW-layout folder, without its suffix."""
        return f'{self.person}/{self.person}_{self.number:04d}'


def read_pairs(path: Path, fold_size: int | None = None) -> list[Pair]:
    """Reads a list of pairs of :class:`ImageKey`, fold after fold.

    The first line is ``folds size``, or ``size`` for a single fold. Then come, for every fold, ``size`` matched pairs ``name i j`` and
    ``size`` mismatched ones ``name i name j``. Tabs or blanks separate; a byte order mark, CRLF and blank lines are accepted.

    Args:
        path: the list.
        fold_size: the size, for a list without the first line.

    Raises:
        DataFormatError: naming the line, from 1, and what is wrong with it.
    """
    size, body = _read_header(path, read_lines(path), fold_size)
    pairs = read_each(lambda at: _read_pair(path, body[at], at % (2 * size) < size, at // (2 * size)), range(len(body)))
    warn_of_oddities(path, pairs, lambda key: key.person)
    return pairs


def _split(line: Line) -> list[str]:
    return [field.strip() for field in line.text.split('\t' if '\t' in line.text else None)]


def _read_header(path: Path, lines: list[Line], fold_size: int | None) -> tuple[int, list[Line]]:
    """The size of a fold, and the lines that are pairs."""
    where, first = f'line {lines[0].number}', _split(lines[0])
    if len(first) <= 2 and all(_NUMBER.fullmatch(field) for field in first):
        folds, size, body = int(first[0]) if len(first) == 2 else 1, int(first[-1]), lines[1:]
        if not folds or not size:
            raise DataFormatError(path, where, f'header {" ".join(first)}', 'expected the folds and the matched pairs in each')
        if len(body) != 2 * folds * size:
            raise DataFormatError(path, where, f'header promises {folds} x {2 * size} pairs, found {len(body)}',
                                  f'expected {2 * folds * size} pairs: the list is cut short, or its header wrong')
        return size, body
    if not fold_size:
        raise DataFormatError(path, where, f'no header but {" ".join(first)!r}',
                              'expected "folds size"; for a list without it give the matched pairs of a fold with fold_size=')
    if len(lines) % (2 * fold_size):
        raise DataFormatError(path, value=f'{len(lines)} pairs', hint=f'expected folds of {fold_size} matched and {fold_size} mismatched')
    return fold_size, lines


def _read_pair(path: Path, line: Line, same: bool, fold: int) -> Pair:
    where, fields = f'line {line.number}', _split(line)
    if len(fields) != (3 if same else 4):
        raise DataFormatError(path, where, f'{len(fields)} fields in a block of {"matched" if same else "mismatched"} pairs', _FIELDS)
    names, numbers = ([fields[0]] * 2, fields[1:]) if same else (fields[0::2], fields[1::2])
    for number in numbers:
        if not _NUMBER.fullmatch(number) or not int(number):
            raise DataFormatError(path, where, f'image number {number}', 'the images of a person count from 1')
    first, second = (ImageKey(check_name(path, where, name), int(number)) for name, number in zip(names, numbers, strict=True))
    return Pair(first, second, same, fold, where)

"""The text of LFW's ``pairs.txt`` and ``pairsDev*.txt``, and of the many lists written like them."""
import re
import warnings
from pathlib import Path
from typing import NamedTuple

from .errors import DataFormatError, DataFormatWarning

_SHOWN = 3
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


class Pair(NamedTuple):
    """Two images, whether they show one person, the fold, from 0, and the line of the list, from 1."""
    first: ImageKey
    second: ImageKey
    same: bool
    fold: int
    line: int


class _Line(NamedTuple):
    number: int
    fields: list[str]


def read_pairs(path: Path, fold_size: int | None = None) -> list[Pair]:
    """Reads a list of pairs, fold after fold.

    The first line is ``folds size``, or ``size`` for a single fold. Then come, for every fold, ``size`` matched pairs ``name i j`` and
    ``size`` mismatched ones ``name i name j``. Tabs or blanks separate; a byte order mark, CRLF and blank lines are accepted.

    Args:
        path: the list.
        fold_size: the size, for a list without the first line.

    Raises:
        DataFormatError: naming the line, from 1, and what is wrong with it.
    """
    lines = _split(path)
    if not lines:
        raise DataFormatError(path, value='empty', hint='expected pairs')
    size, body = _read_header(path, lines, fold_size)
    pairs = [_read_pair(path, line, at % (2 * size) < size, at // (2 * size)) for at, line in enumerate(body)]
    _warn_of_oddities(path, pairs)
    return pairs


def _split(path: Path) -> list[_Line]:
    lines = []
    for number, raw in enumerate(path.read_bytes().removeprefix(b'\xef\xbb\xbf').splitlines(), 1):
        try:
            text = raw.decode('utf-8')
        except UnicodeDecodeError as error:
            raise DataFormatError(path, f'line {number}', f'byte {raw[error.start]:#04x} is not UTF-8', 'save the list as UTF-8') from None
        if text.strip():
            lines.append(_Line(number, [field.strip() for field in text.strip().split('\t' if '\t' in text else None)]))
    return lines


def _read_header(path: Path, lines: list[_Line], fold_size: int | None) -> tuple[int, list[_Line]]:
    """The size of a fold, and the lines that are pairs."""
    number, first = lines[0]
    if len(first) <= 2 and all(_NUMBER.fullmatch(field) for field in first):
        folds, size, body = int(first[0]) if len(first) == 2 else 1, int(first[-1]), lines[1:]
        if not folds or not size:
            raise DataFormatError(path, f'line {number}', f'header {" ".join(first)}', 'expected the folds and the matched pairs in each')
        if len(body) != 2 * folds * size:
            raise DataFormatError(path, f'line {number}', f'header promises {folds} x {2 * size} pairs, found {len(body)}',
                                  'the list is cut short or its header wrong')
        return size, body
    if not fold_size:
        raise DataFormatError(path, f'line {number}', f'no header but {" ".join(first)!r}',
                              'expected "folds size"; for a list without it give the matched pairs of a fold with fold_size=')
    if len(lines) % (2 * fold_size):
        raise DataFormatError(path, value=f'{len(lines)} pairs', hint=f'expected folds of {fold_size} matched and {fold_size} mismatched')
    return fold_size, lines


def _read_pair(path: Path, line: _Line, same: bool, fold: int) -> Pair:
    where, fields = f'line {line.number}', line.fields
    if len(fields) != (3 if same else 4):
        raise DataFormatError(path, where, f'{len(fields)} fields in a block of {"matched" if same else "mismatched"} pairs', _FIELDS)
    names, numbers = ([fields[0]] * 2, fields[1:]) if same else (fields[0::2], fields[1::2])
    for name in names:
        if not name or name.startswith('.') or re.search(r'[/\\\0]', name):
            raise DataFormatError(path, where, f'name {name!r}', 'a name is a directory beside the others, not a path')
    for number in numbers:
        if not _NUMBER.fullmatch(number) or not int(number):
            raise DataFormatError(path, where, f'image number {number}', 'the images of a person count from 1')
    return Pair(ImageKey(names[0], int(numbers[0])), ImageKey(names[1], int(numbers[1])), same, fold, line.number)


def _warn_of_oddities(path: Path, pairs: list[Pair]) -> None:
    seen: dict[frozenset, Pair] = {}
    places: dict[str, list[str]] = {}
    for pair in pairs:
        before = seen.setdefault(frozenset(pair[:2]), pair)
        if pair.first == pair.second:
            places.setdefault('an image paired with itself', []).append(f'line {pair.line}')
        if not pair.same and pair.first.person == pair.second.person:
            places.setdefault('mismatched pair of one person', []).append(f'line {pair.line}')
        if before is not pair:
            value = 'the same pair' if before.fold == pair.fold else 'the same pair in two folds'
            places.setdefault(value, []).append(f'lines {before.line} and {pair.line}')
    for value, found in places.items():
        where = ', '.join(found[:_SHOWN]) + f' and {len(found) - _SHOWN} more' * (len(found) > _SHOWN)
        warnings.warn(DataFormatWarning(path, where, value, 'counted as it stands'), stacklevel=2)

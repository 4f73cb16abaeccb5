"""The ``.idx`` beside a ``.rec``: a text line ``key TAB offset`` a record, in any order."""
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np

from ..errors import DataFormatError
from .even_lines import parse_even_lines

_BLOCK = 1 << 20
_LARGEST = np.iinfo(np.int64).max
_REBUILD = 'the index is broken: delete it to have it rebuilt from the .rec'


def read_index(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Keys and offsets, int64 ``[N]``, in the order of the file. Any blank separates, blank lines and CRLF are accepted.

    Beside the result it needs little memory, or twice as much where the keys are not in order.

    Raises:
        DataFormatError: an empty index, a line that is not two numbers, a key twice, a number that is negative or beyond int64.
    """
    with path.open('rb') as file:
        lines = sum(block.count(b'\n') for block in _blocks(file)) + 1
        keys, offsets = np.empty(lines, np.int64), np.empty(lines, np.int64)
        file.seek(0)
        n = 0
        for block in _blocks(file):
            found = parse_even_lines(block) or _parse(path, block)
            end = n + len(found[0])
            if end > lines:
                _refuse(path)
            keys[n:end], offsets[n:end] = found
            n = end
    if n == 0:
        raise DataFormatError(path, value='no entry', hint='expected a line "key TAB offset" a record; ' + _REBUILD)
    keys, offsets = keys[:n], offsets[:n]
    _refuse_repeated(path, keys)
    return keys, offsets


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """The file in whole lines."""
    while block := file.read(_BLOCK):
        yield block + file.readline()


def _parse(path: Path, block: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Keys and offsets of any lines. A line of one number and one of three pass together; their offsets are no places of records."""
    if block.isspace():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter('error', DeprecationWarning)  # NumPy before 2.3 only warns of text that is no number
        try:
            numbers = np.fromstring(block, np.int64, sep=' ')
        except (ValueError, DeprecationWarning):
            _refuse(path)
    if len(numbers) % 2 or numbers.min() < 0 or numbers.max() == _LARGEST:  # NumPy reads what does not fit as the largest
        _refuse(path)
    return numbers[0::2], numbers[1::2]


def _refuse(path: Path) -> NoReturn:
    check_lines(path)
    raise DataFormatError(path, value='not two numbers a line', hint=_REBUILD)


def _refuse_repeated(path: Path, keys: np.ndarray) -> None:
    if (keys[1:] > keys[:-1]).all():
        return
    ordered = np.sort(keys, kind='stable')  # fast on keys that are nearly in order, as with record 0 at the end
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:
        first, second, *_ = lines_of(path, 0, int(twice[0]))
        raise DataFormatError(path, f'line {second}', f'key {twice[0]} repeated', f'it is already in line {first}; {_REBUILD}')


def lines_of(path: Path, column: int, value: int) -> Iterator[int]:
    """The numbers of the lines, from 1, that have ``value`` as their key (column 0) or offset (1)."""
    with path.open('rb') as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if len(words) > column and int(words[column]) == value:
                yield number


def check_lines(path: Path) -> None:
    """Finds the line that is wrong, if there is one. Slow: for an index already under suspicion.

    Raises:
        DataFormatError: naming the line.
    """
    with path.open('rb') as file:
        for number, line in enumerate(file, 1):
            words, where = line.decode('ascii', 'replace').split(), f'line {number}'
            if not words:
                continue
            if len(words) != 2 or not all(re.fullmatch('[+-]?[0-9]+', word) for word in words):
                raise DataFormatError(path, where, repr(' '.join(words)[:80]), f'expected "key TAB offset"; {_REBUILD}')
            key, offset = map(int, words)
            if offset < 0:
                raise DataFormatError(path, where, f'negative offset {offset}', _REBUILD)
            if offset >= _LARGEST:
                raise DataFormatError(path, where, f'offset {offset} beyond any file', f'written with a 32-bit tell; {_REBUILD}')
            if not 0 <= key < _LARGEST:
                raise DataFormatError(path, where, f'key {key}', f'keys count from 0; {_REBUILD}')

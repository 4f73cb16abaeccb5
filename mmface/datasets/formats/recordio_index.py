"""The ``.idx`` beside a ``.rec``: a text line ``key TAB offset`` a record, in any order."""
import re
import warnings
from pathlib import Path

import numpy as np

from .errors import DataFormatError

_BLOCK = 1 << 26
_LARGEST = np.iinfo(np.int64).max
_REBUILD = 'the index is broken: delete it to have it rebuilt from the .rec'


def read_index(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Keys and offsets, int64 ``[N]``, in the order of the file. Any blank separates, blank lines and CRLF are accepted.

    Raises:
        DataFormatError: an empty index, a line that is not two numbers, a key twice, a number that is negative or beyond int64.
    """
    blocks, lines = [], 0
    with path.open('rb') as file:
        while block := file.read(_BLOCK):
            block += file.readline()
            lines += block.count(b'\n') + (not block.endswith(b'\n'))
            blocks.append(_parse(path, block))
    numbers = np.concatenate(blocks) if blocks else np.zeros(0, np.int64)
    if len(numbers) == 0:
        raise DataFormatError(path, value='no entry', hint='expected a line "key TAB offset" a record; ' + _REBUILD)
    # Blank lines make fewer numbers than two a line, and so do broken ones. NumPy reads what does not fit as the largest number.
    if len(numbers) != 2 * lines or numbers.min() < 0 or numbers.max() == _LARGEST:
        _check_lines(path)
    keys, offsets = numbers[0::2], numbers[1::2]
    order = np.argsort(keys, kind='stable')
    twice = np.flatnonzero(np.diff(keys[order]) == 0)
    if twice.size:
        first, second = order[twice[0]:twice[0] + 2]
        raise DataFormatError(path, f'line {line_of(path, second)}', f'key {keys[second]} repeated',
                              f'it is already in line {line_of(path, first)}; {_REBUILD}')
    return keys, offsets


def _parse(path: Path, block: bytes) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter('error', DeprecationWarning)  # NumPy before 2.3 only warns of text that is no number
        try:
            return np.fromstring(block, np.int64, sep=' ')
        except (ValueError, DeprecationWarning):
            _check_lines(path)
            raise


def line_of(path: Path, entry: int) -> int:
    """The number of the line, from 1, that holds an entry of the index, counted from 0: they differ where lines are blank."""
    with path.open('rb') as file:
        filled = (number for number, line in enumerate(file, 1) if line.strip())
        return next(number for at, number in enumerate(filled) if at == entry)


def _check_lines(path: Path) -> None:
    """Finds the line that is wrong, if there is one. Slow: for an index already under suspicion."""
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

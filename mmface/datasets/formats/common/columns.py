"""Lists in columns, millions of lines in a second: NumPy's parser for what is right, a slow walk that names the line for what is not."""
import csv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..errors import DataFormatError, read_each
from .placeholders import refuse_placeholder

_KINDS: dict[type, tuple] = {
    str: (object, 'a text'),
    int: (np.int64, 'a whole number of at most 64 bits'),
    float: (np.float64, 'a finite number'),
}


def read_columns(path: Path, fields: Sequence[tuple[str, type]], delimiter: str | None = None) -> np.ndarray:
    """Reads a list as a structured array with one field a column.

    Without ``delimiter`` blanks separate, there is no header and the columns are exactly ``fields``. With one there is a header, and
    ``fields`` are the first columns of perhaps more. Blank lines and a byte order mark are accepted.

    Args:
        path: the list, in UTF-8.
        fields: name and type of each column: ``str``, ``int`` (int64) or ``float`` (float64, finite).
        delimiter: what separates the columns, or None.

    Raises:
        DataFormatError: naming the line, from 1, for too few or too many columns, a header that is absent, or a value of another type.
    """
    if not path.is_file():
        raise DataFormatError(path, value='no such file')
    with path.open('rb') as file:
        refuse_placeholder(path, file.read(64))
    if delimiter is not None:
        _check_header(path, delimiter)
    csv_file = delimiter is not None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('error', DeprecationWarning)  # NumPy below 2.4: 1.5 is cut to the whole number 1
            warnings.filterwarnings('ignore', 'loadtxt: input contained no data')
            table = np.loadtxt(path, dtype=[(name, _KINDS[kind][0]) for name, kind in fields], comments=None, delimiter=delimiter,
                               skiprows=int(csv_file), usecols=range(len(fields)) if csv_file else None, ndmin=1, encoding='utf-8-sig',
                               quotechar='"' if csv_file else None)
    except (ValueError, DeprecationWarning) as error:
        _name_fault(path, fields, delimiter)
        raise DataFormatError(path, value=str(error)) from None
    if not len(table):
        raise DataFormatError(path, value='empty', hint=f'expected lines of {", ".join(name for name, _ in fields)}')
    if not all(np.isfinite(table[name]).all() for name, kind in fields if kind is float):
        _name_fault(path, fields, delimiter)
    return table


def read_names(path: Path) -> list[str]:
    """The lines of a text file that have something on them, without blanks at their ends.

    Raises:
        DataFormatError: where there is no such file, or it is not UTF-8.
    """
    if not path.is_file():
        raise DataFormatError(path, value='no such file')
    return [line.strip() for _, line in _texts(path)]


def line_of(path: Path, row: int, header: bool = False) -> str:
    """``'line 12'`` for a row, from 0, of what :func:`read_columns` returned."""
    with path.open('rb') as file:
        filled = (number for number, line in enumerate(file, 1) if line.strip())
        return f'line {next(number for at, number in enumerate(filled, -int(header)) if at == row)}'


def _check_header(path: Path, delimiter: str) -> None:
    with path.open(encoding='utf-8-sig', errors='replace') as file:
        first = file.readline().split(delimiter)[0].strip()
    if first.lstrip('-').isdigit():
        raise DataFormatError(path, 'line 1', f'no header but {first}', 'expected the names of the columns')


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of every line that has something on it."""
    with path.open('rb') as file:
        for number, raw in enumerate(file, 1):
            try:
                line = raw.decode('utf-8-sig')
            except UnicodeDecodeError as error:
                hint = 'save the list as UTF-8'
                raise DataFormatError(path, f'line {number}', f'byte {raw[error.start]:#04x} is not UTF-8', hint) from None
            if line.strip():
                yield number, line


def _lines(path: Path, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of every line but the header."""
    for number, line in _texts(path):
        if delimiter is None:
            yield number, line.split()
        elif number > 1:
            yield number, next(csv.reader([line], delimiter=delimiter))


def _name_fault(path: Path, fields: Sequence[tuple[str, type]], delimiter: str | None) -> None:
    """Raises for the first line that is wrong, or finds all of them; see :func:`read_each`."""
    names = ', '.join(name for name, _ in fields)
    separated = 'blank-separated' if delimiter is None else f'"{delimiter}"-separated'

    def check(line: tuple[int, list[str]]) -> None:
        number, found = line
        if len(found) < len(fields) or (delimiter is None and len(found) > len(fields)):
            raise DataFormatError(path, f'line {number}', f'{len(found)} field{"s"[:len(found) != 1]}',
                                  f'expected {len(fields)} {separated} fields: {names}')
        for (name, kind), text in zip(fields, found, strict=False):
            if not _fits(text, kind):
                raise DataFormatError(path, f'line {number}', f'{name} {text}', f'expected {_KINDS[kind][1]}')

    read_each(check, _lines(path, delimiter))


def _fits(text: str, kind: type) -> bool:
    try:
        value = _KINDS[kind][0](text) if kind is not str else 0
    except (ValueError, OverflowError):
        return False
    return kind is not float or bool(np.isfinite(value))

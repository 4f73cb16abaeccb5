"""Matrices of MATLAB files as NumPy arrays: numbers, texts, cells and structs."""
import math
import struct
from typing import NamedTuple

import numpy as np

from .elements import MATRIX, Elements

_NUMBERS = {1: 'i1', 2: 'u1', 3: 'i2', 4: 'u2', 5: 'i4', 6: 'u4', 7: 'f4', 9: 'f8', 12: 'i8', 13: 'u8'}  #: types of elements
_TEXTS = {1: 'latin-1', 2: 'latin-1', 4: 'utf-16', 16: 'utf-8', 17: 'utf-16', 18: 'utf-32'}
_CLASSES = {6: 'f8', 7: 'f4', 8: 'i1', 9: 'u1', 10: 'i2', 11: 'u2', 12: 'i4', 13: 'u4', 14: 'i8', 15: 'u8'}
_COMPLEX = 0x800
_DEEPEST = 16


class Head(NamedTuple):
    """What a matrix says of itself before its values: class number, flags, dimensions, and the name of a variable."""
    kind: int
    flags: int
    shape: tuple[int, ...]
    name: str


def read_head(elements: Elements) -> Head:
    """Reads the head of a matrix.

    Raises:
        ValueError: for damage.
    """
    (_, flags), (_, shape), (_, name) = elements.next(), elements.next(), elements.next()
    if len(flags) != 8 or len(shape) % 4 or len(shape) < 8:
        raise ValueError(f'{len(flags)} bytes of flags and {len(shape)} of dimensions')
    word, sizes = struct.unpack_from(f'{elements.order}I', flags)[0], struct.unpack(f'{elements.order}{len(shape) // 4}i', shape)
    if min(sizes) < 0:
        raise ValueError(f'dimensions {sizes}')
    return Head(word & 0xff, word, sizes, bytes(name).decode('latin-1'))


def read_value(elements: Elements, head: Head, depth: int = 0) -> np.ndarray:
    """Reads what follows the head. Cells become arrays of objects, structs structured arrays of objects, texts one string a row.

    Raises:
        ValueError: for damage, and for sparse matrices, objects and functions.
    """
    if depth > _DEEPEST:
        raise ValueError(f'cells or structs more than {_DEEPEST} deep')
    if head.kind in _CLASSES:
        return _read_numbers(elements, head)
    readers = {1: _read_cell, 2: _read_struct}
    if head.kind in readers:
        return readers[head.kind](elements, head, depth)
    if head.kind == 4:
        return _read_text(elements, head)
    raise ValueError(f'a matrix of class {head.kind}')


def _read_numbers(elements: Elements, head: Head) -> np.ndarray:
    parts = []
    for _ in range(2 if head.flags & _COMPLEX else 1):
        kind, content = elements.next()
        dtype = np.dtype(elements.order + _NUMBERS.get(kind, 'V1'))
        if kind not in _NUMBERS or len(content) != math.prod(head.shape) * dtype.itemsize:
            raise ValueError(f'{len(content)} bytes of type {kind} for dimensions {head.shape}')
        parts.append(np.frombuffer(content, dtype).astype(_CLASSES[head.kind]).reshape(head.shape, order='F'))
    return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]


def _read_text(elements: Elements, head: Head) -> np.ndarray:
    kind, content = elements.next()
    if kind not in _TEXTS or len(head.shape) != 2:
        raise ValueError(f'text of type {kind} and dimensions {head.shape}')
    code = _TEXTS[kind] + ('' if kind in (1, 2, 16) else '-le' if elements.order == '<' else '-be')
    text = bytes(content).decode(code)
    rows, columns = head.shape
    if len(text) != rows * columns:
        raise ValueError(f'{len(text)} letters for dimensions {head.shape}')
    return np.array([text[row::rows] for row in range(rows)], np.str_)


def _read_cell(elements: Elements, head: Head, depth: int) -> np.ndarray:
    cells = np.empty(_count(elements, head, 1), object)
    for at in range(len(cells)):
        cells[at] = _read_inner(elements, depth)
    return cells.reshape(head.shape, order='F')


def _read_struct(elements: Elements, head: Head, depth: int) -> np.ndarray:
    (_, length), (_, names) = elements.next(), elements.next()
    width = struct.unpack(f'{elements.order}i', length)[0] if len(length) == 4 else 0
    if width < 1 or not names or len(names) % width:
        raise ValueError(f'{len(names)} bytes of field names of {width} each')
    fields = [bytes(names[at:at + width]).partition(b'\0')[0].decode('latin-1') for at in range(0, len(names), width)]
    structs = np.empty(_count(elements, head, len(fields)), [(field, object) for field in fields])
    for at in range(len(structs)):
        structs[at] = tuple(_read_inner(elements, depth) for _ in fields)
    return structs.reshape(head.shape, order='F')


def _count(elements: Elements, head: Head, each: int) -> int:
    """The number of cells or structs, after a look whether there are bytes for so many."""
    count = math.prod(head.shape)
    if 8 * count * each > elements.left:
        raise ValueError(f'{elements.left} bytes for dimensions {head.shape}')
    return count


def _read_inner(elements: Elements, depth: int) -> np.ndarray:
    kind, content = elements.next()
    if kind != MATRIX:
        raise ValueError(f'type {kind} inside a cell or struct')
    if not len(content):
        return np.empty((0, 0))
    inner = Elements(content, elements.order)
    return read_value(inner, read_head(inner), depth + 1)

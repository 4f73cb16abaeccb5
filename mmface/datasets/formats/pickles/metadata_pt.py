"""``metadata.pt`` of CVLface's evaluation sets: a dict of NumPy arrays and lists, written by ``torch.save``."""
import math
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from mmface.utils.pickles.machine import PickleMachine
from mmface.utils.pickles.values import Array, Span, decode, kind_of

from ..errors import DataFormatError
from .opcodes import OPCODES

_CONVERT = 'expected a dict of NumPy arrays and lists of integers or strings, as torch.save writes it'


def _set_items(machine: PickleMachine, items: list) -> None:
    target = machine.top(dict)
    if len(items) % 2:
        raise machine.refuse(f'opcode {machine.opcode} with {len(items)} keys and values')
    for key, value in zip(items[0::2], items[1::2], strict=True):
        name = machine.text(key)
        if name in target:
            raise machine.refuse(f'key {name!r} for the second time')
        target[name] = value


_DICT_OPCODES = {
    **OPCODES,
    'EMPTY_DICT': lambda machine: machine.push_unfinished({}),
    'SETITEM': lambda machine: _set_items(machine, machine.take(2)),
    'SETITEMS': lambda machine: _set_items(machine, machine.take_to_mark()),
}


def read_metadata_pt(path: str | Path) -> dict[str, np.ndarray]:
    """Reads ``metadata.pt`` without unpickling anything: the pickle machine of ``.bin`` packs, with dicts.

    Returns:
        key -> array. Arrays have their own type, shape and byte order and may be read-only; lists of integers become int64 and
        of truth values bool ``[N]``, lists and object arrays of strings become object ``[N]`` of ``str``.

    Raises:
        DataFormatError: for a file of another kind, tensors and other objects, sizes that do not agree, with the key or the offset.
    """
    path = Path(path)
    data = _read_pickle(path)
    found = PickleMachine(data, _DICT_OPCODES, path, 'data.pkl, ', bytes_per_opcode=8).run()
    if type(found) is not dict:
        raise DataFormatError(path, value=f'holds {kind_of(found)}', hint=_CONVERT)
    return _Converter(path, data).convert(found)


def _read_pickle(path: Path) -> bytes:
    """The pickle inside the archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(_find_pickle(path, archive))
    except DataFormatError:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, struct.error) as error:
        raise DataFormatError(path, value=f'not a zip archive, or a damaged one: {error}', hint=_CONVERT) from None


def _find_pickle(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [member for member in archive.infolist() if member.filename.endswith('/data.pkl')]
    if len(members) != 1:
        raise DataFormatError(path, value=f'{len(members)} members called data.pkl', hint=_CONVERT)
    member = members[0]
    if member.file_size > path.stat().st_size:
        value = f'{member.file_size} bytes packed into {member.compress_size}'
        raise DataFormatError(path, member.filename, value, 'torch.save packs nothing: save the file again')
    return member


class _Converter:
    """Turns stand-ins into arrays, each string of the file once: many references to one long string would fill any memory."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data = path, data
        self.strings: dict[Span, str | bytes] = {}
        self.arrays: dict[int, np.ndarray] = {}
        self.key = ''

    def convert(self, found: dict[str, Any]) -> dict[str, np.ndarray]:
        for self.key, value in found.items():
            if id(value) not in self.arrays:
                convert: Any = {Array: self._array, list: self._list, tuple: self._list}.get(type(value))
                if convert is None:
                    raise self._refuse(kind_of(value))
                self.arrays[id(value)] = convert(value)
        return {key: self.arrays[id(value)] for key, value in found.items()}

    def _refuse(self, value: str) -> DataFormatError:
        return DataFormatError(self.path, f'key {self.key!r}', value, _CONVERT)

    def _array(self, array: Array) -> np.ndarray:
        if array.dtype is None:
            raise self._refuse('an array without data')
        if array.dtype.code == 'O8':
            if array.shape != (len(array.data), ):
                raise self._refuse(f'an array of objects with the shape {array.shape} and {len(array.data)} objects')
            return self._list(array.data)
        dtype, data = np.dtype(array.dtype.order + array.dtype.code), self._string(array.data)
        if math.prod(array.shape) * dtype.itemsize != len(data):
            raise self._refuse(f'an array of {dtype} with the shape {array.shape}, but {len(data)} bytes')
        try:
            return np.frombuffer(data, dtype).reshape(array.shape, order='F' if array.fortran else 'C')
        except (ValueError, OverflowError) as error:  # more dimensions or longer empty ones than NumPy has
            raise self._refuse(f'an array that NumPy refuses: {error}') from None

    def _list(self, values: list | tuple) -> np.ndarray:
        kinds = set(map(type, values))
        if kinds <= {Span} and all(value.kind == 'str' for value in values):
            strings = np.empty(len(values), object)
            strings[:] = [self._string(value) for value in values]
            return strings
        if kinds not in ({bool}, {int}) or not all(-(1 << 63) <= value < 1 << 63 for value in values):
            raise self._refuse(f'a list of {", ".join(sorted({kind_of(value) for value in values}))}')
        return np.array(values)

    def _string(self, span: Span) -> Any:
        """The ``str`` or ``bytes`` in the file."""
        if span not in self.strings:
            try:
                raw = decode(self.data, span)
                self.strings[span] = raw.decode('utf-8') if span.kind == 'str' else raw
            except ValueError as error:
                raise self._refuse(f'broken text: {error}') from None
        return self.strings[span]

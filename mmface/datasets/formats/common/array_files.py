"""Arrays in ``.npy``, ``.npz`` and ``.safetensors`` files: sizes are checked before anything is allocated, and nothing is unpickled."""
import json
import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ..errors import DataFormatError
from .placeholders import refuse_placeholder

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MOST_DEFLATED = 1100  # times that DEFLATE can shrink anything
_FLOATS = ('F16', 'F32', 'F64')
_EXPECTED = 'expected float16, float32 or float64'


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name; a ``.npy`` file has one, called ``embeddings``.

    Floats keep their type; ``names`` is an array of texts. In a ``.safetensors`` file it is the JSON list ``names`` of the metadata.

    Raises:
        DataFormatError: for a file that is cut short, goes on behind its arrays or has arrays of another type, those of objects before all.
        ImportError: for ``.safetensors`` without that package, naming the extra.
    """
    readers = {'.npy': _read_npy, '.npz': _read_npz, '.safetensors': _read_safetensors}
    if path.suffix not in readers:
        raise DataFormatError(path, value=f'suffix {path.suffix!r}', hint=f'expected one of {", ".join(readers)}')
    if not path.is_file():
        raise DataFormatError(path, value='no such file')
    with path.open('rb') as file:
        refuse_placeholder(path, file.read(64))
    return readers[path.suffix](path)


def _read_npy(path: Path) -> dict[str, np.ndarray]:
    with path.open('rb') as file:
        return dict(embeddings=_read_array(path, '', file, path.stat().st_size))


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                _check_packed_size(path, info)
                with archive.open(info) as file:
                    arrays[info.filename.removesuffix('.npy')] = _read_array(path, info.filename, file, info.file_size)
    except DataFormatError:
        raise
    except Exception as error:  # noqa: BLE001 (zipfile raises whatever a damaged archive leads to)
        raise DataFormatError(path, value='truncated or no .npz archive', hint=str(error)) from None
    return arrays


def _check_packed_size(path: Path, info: zipfile.ZipInfo) -> None:
    if info.file_size > _MOST_DEFLATED * info.compress_size:
        raise DataFormatError(path, info.filename, f'claims {info.file_size} bytes', f'{info.compress_size} cannot unfold to these')


def _read_array(path: Path, where: str, file: IO[bytes], size: int) -> np.ndarray:
    """One array in the ``.npy`` format, from a file of ``size`` bytes."""
    try:
        shape, fortran, dtype = _HEADERS[npy.read_magic(file)](file)
    except KeyError as error:
        raise DataFormatError(path, where, f'.npy version {error}', 'expected (1, 0) or (2, 0)') from None
    except Exception as error:  # noqa: BLE001 (NumPy reads the header as Python text, and raises whatever that leads to)
        raise DataFormatError(path, where, 'truncated or no .npy file', str(error)) from None
    _check_type(path, where, dtype)
    claimed, found = math.prod(shape) * dtype.itemsize, size - file.tell()
    if min(shape, default=0) < 0 or claimed != found:
        raise DataFormatError(path, where, 'truncated' if claimed > found else f'{found - claimed} bytes after the array',
                              f'shape {shape} of {dtype} takes {claimed} bytes, the file holds {found}')
    flat = np.empty(math.prod(shape), dtype)
    read = file.readinto(flat.view(np.uint8)) if flat.size else 0  # type: ignore[attr-defined]
    if read != claimed:
        raise DataFormatError(path, where, 'truncated', f'expected {claimed} bytes, read {read}')
    return flat.reshape(shape, order='F' if fortran else 'C')


def _check_type(path: Path, where: str, dtype: np.dtype) -> None:
    if dtype.hasobject:
        raise DataFormatError(path, where, 'array of objects', f'unpickling them would run what the file asks for; {_EXPECTED}')
    if not (dtype.kind == 'U' or (dtype.kind == 'f' and dtype.itemsize in (2, 4, 8))):
        raise DataFormatError(path, where, f'array of type {dtype}', _EXPECTED)


def _read_safetensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open
    arrays: dict[str, np.ndarray] = {}
    try:
        with safe_open(path, framework='numpy') as file:
            for key in file.keys():  # noqa: SIM118 (no mapping)
                kind = file.get_slice(key).get_dtype()
                if kind not in _FLOATS:
                    raise DataFormatError(path, key, f'tensor of type {kind}', _EXPECTED)
                arrays[key] = file.get_tensor(key)
            names = (file.metadata() or {}).get('names')
    except SafetensorError as error:
        raise DataFormatError(path, value='truncated or no .safetensors file', hint=str(error)) from None
    if names is not None:
        try:
            arrays['names'] = np.array(json.loads(names), np.str_)
        except ValueError as error:
            raise DataFormatError(path, 'metadata names', 'no JSON list', str(error)) from None
    return arrays

"""Variables of MATLAB files, version 5 to 7.

Read by ourselves: one in forty files with a single wrong byte lets SciPy's ``loadmat`` end the process with a segmentation fault.
"""
from pathlib import Path

import numpy as np

from ..common.placeholders import refuse_placeholder
from ..errors import DataFormatError
from .elements import MAX_BYTES, Elements, matrices
from .values import read_head, read_value

_HDF5 = b'\x89HDF\r\n\x1a\n'
_HEADER = 128


def read_mat(path: Path, *keys: str) -> list[np.ndarray]:
    """Reads the variables ``keys``, as SciPy gives them.

    Numbers are arrays of at least two dimensions, texts one string a row, cells arrays of objects, structs structured arrays of objects.

    Raises:
        DataFormatError: for a file of version 7.3, which is HDF5, one that cannot be read or unpacks to more than 512 MiB, or variables
            that are missing.
    """
    if not path.is_file():
        raise DataFormatError(path, value='no such file')
    with path.open('rb') as file:
        head = file.read(1024)
    refuse_placeholder(path, head)
    if head.startswith((b'MATLAB 7.3', _HDF5)) or head[512:].startswith(_HDF5):
        raise DataFormatError(path, value='MATLAB 7.3 (HDF5) file',
                              hint='save it as version 7 (in MATLAB "-v7"), or read it with h5py and write it with scipy.io.savemat')
    order = {b'IM': '<', b'MI': '>'}.get(head[_HEADER - 2:_HEADER])
    if order is None or path.stat().st_size > MAX_BYTES:
        raise DataFormatError(path, value='cannot be read', hint=f'no MATLAB file of version 5 to 7 below {MAX_BYTES} bytes')
    variables, found = {}, []
    try:
        for matrix in matrices(memoryview(path.read_bytes())[_HEADER:], order):
            elements = Elements(matrix, order)
            variable = read_head(elements)
            found += [variable.name] if variable.name else []
            if variable.name in keys:
                variables[variable.name] = read_value(elements, variable)
    except ValueError as error:
        raise DataFormatError(path, value='cannot be read', hint=f'truncated or damaged: {error}') from None
    missing = [key for key in keys if key not in variables]
    if missing:
        raise DataFormatError(path, value=f'keys {", ".join(missing)} missing', hint=f'found: {", ".join(found) or "none"}')
    return [variables[key] for key in keys]

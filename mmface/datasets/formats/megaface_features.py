"""The feature files of MegaFace's development kit, one an image, as OpenCV writes a matrix: rows, columns, step, type, values."""
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .common.embedding_file import EmbeddingFile
from .errors import DataFormatError
from .megaface import MegaFace

_HEADER = struct.Struct('<iiii')
_FLOAT32 = 5  #: OpenCV's CV_32F
_TYPES = ('CV_8U', 'CV_8S', 'CV_16U', 'CV_16S', 'CV_32S', 'CV_32F', 'CV_64F', 'CV_16F')


def read_megaface_features(images: MegaFace, folder: str | Path, algorithm: str) -> EmbeddingFile:
    """Reads ``<folder>/facescrub/<path>_<algorithm>.bin`` and ``<folder>/megaface/...`` of all images.

    Returns:
        float32 ``[M, D]`` in the order of ``images.set.paths``, with the names of the images.

    Raises:
        DataFormatError: naming the file, for one that is missing, damaged or of another length than the first.
    """
    names = [file.replace('_images/', '/', 1) for file in images.files]
    return EmbeddingFile(Path(folder), _read_all(Path(folder), names, algorithm), names=images.files)


def read_megaface_feature(path: Path) -> np.ndarray:
    """One feature, float32 ``[D]``.

    Raises:
        DataFormatError: for another header than that of a column of float32, or another number of values than it claims.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataFormatError(path, value='no such file') from None
    if len(data) < _HEADER.size:
        raise DataFormatError(path, value='empty' if not data else f'{len(data)} bytes', hint=f'expected a header of {_HEADER.size} bytes')
    rows, columns, step, kind = _HEADER.unpack_from(data)
    if kind == int.from_bytes(_FLOAT32.to_bytes(4, 'little'), 'big'):
        raise DataFormatError(path, value=f'{rows} rows: byte order?', hint='expected little-endian numbers')
    if kind != _FLOAT32:
        name = _TYPES[kind] if 0 <= kind < len(_TYPES) else 'unknown'
        raise DataFormatError(path, value=f'type {kind} ({name})', hint=f'expected {_FLOAT32} (CV_32F)')
    if columns != 1 or step != 4:
        raise DataFormatError(path, value=f'{columns} columns, step {step}', hint='expected 1 column, step 4')
    if rows < 1:
        raise DataFormatError(path, value=f'{rows} rows', hint='expected at least one')
    held, rest = divmod(len(data) - _HEADER.size, 4)
    if held < rows:
        raise DataFormatError(path, value=f'claims {rows} values, holds {held}', hint='truncated')
    if held > rows or rest:
        raise DataFormatError(path, value=f'{4 * (held - rows) + rest} bytes after the values', hint=f'expected {rows} values and the end')
    return np.frombuffer(data, '<f4', rows, _HEADER.size)


def _read_all(folder: Path, names: Sequence[str], algorithm: str) -> np.ndarray:
    features = np.empty((0, 0), np.float32)
    for at, name in enumerate(names):
        path = folder / f'{name}_{algorithm}.bin'
        feature = read_megaface_feature(path)
        if not at:
            features = np.empty((len(names), len(feature)), np.float32)
        if len(feature) != features.shape[1]:
            raise DataFormatError(path, value=f'{len(feature)} values', hint=f'the first file has {features.shape[1]}')
        features[at] = feature
    return features

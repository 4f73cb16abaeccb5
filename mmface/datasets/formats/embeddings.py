"""Embeddings in files, one row an image: what evaluation reads instead of images, and keeps for the next time."""
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmface.utils.atomic_file import atomic_file

from .common.array_files import read_arrays
from .common.columns import read_names
from .common.embedding_file import EmbeddingFile
from .errors import DataFormatError

_ROWS = 1 << 16  # at a time, so that the float64 of the checks stays small


def read_embeddings(path: str | Path, split: bool = False, names: str | Path | None = None) -> EmbeddingFile:
    """Reads a ``.npy``, ``.npz`` or ``.safetensors`` file and checks every row.

    The array is called ``embeddings`` or is the only one; further ones are ``mirrored`` and ``names``. Types are float16, float32 and
    float64, in either byte order and in C or Fortran order; half precision is widened.

    Args:
        path: the file.
        split: the columns are original and mirrored embedding side by side, N x 2D.
        names: a text file with the name of an image a line, for a file that has none.

    Raises:
        DataFormatError: naming file and row, from 0, for a row that is not finite, has the norm 0, or one that float32 cannot square; for
            arrays of another type or shape, object arrays, and files cut short.
        ImportError: for ``.safetensors`` without that package, naming the extra.
    """
    path = Path(path)
    arrays = read_arrays(path)
    listed = arrays.pop('names', None)
    mirrored = arrays.pop('mirrored', None)
    key = 'embeddings' if len(arrays) != 1 else next(iter(arrays))
    if key not in arrays:
        raise DataFormatError(path, value=f'arrays {", ".join(arrays) or "none"}', hint='expected "embeddings", or one array only')
    embeddings = arrays[key]
    if split:
        if mirrored is not None or embeddings.ndim != 2 or embeddings.shape[1] % 2:
            raise DataFormatError(path, value=f'shape {embeddings.shape}', hint='expected [N, 2D], original and mirrored side by side')
        embeddings, mirrored = np.split(embeddings, 2, 1)
    embeddings = _checked(path, '', embeddings)
    if mirrored is not None:
        if mirrored.shape != embeddings.shape:
            raise DataFormatError(path, 'mirrored', f'shape {mirrored.shape}', f'embeddings have {embeddings.shape}')
        mirrored = _checked(path, 'mirrored ', mirrored)
    if names is not None:
        listed = np.array(read_names(Path(names)), np.str_)
    if listed is not None and listed.shape != (len(embeddings), ):
        raise DataFormatError(names or path, 'names', f'{listed.size} names', f'there are {len(embeddings)} rows')
    return EmbeddingFile(path, embeddings, mirrored, None if listed is None else listed.tolist())


def write_embeddings(path: str | Path, embeddings: np.ndarray, mirrored: np.ndarray | None = None,
                     names: Sequence[str] | None = None) -> None:
    """Writes what :func:`read_embeddings` reads, by the suffix; the file is whole or not there.

    Args:
        path: ``.npz`` or ``.safetensors``, or ``.npy`` for embeddings alone.
        embeddings: floats ``[N, D]``.
        mirrored: likewise, those of the mirrored images, or None.
        names: N names of the images, best their paths relative to the set's folder, or None.

    Raises:
        ValueError: for other shapes, more than a ``.npy`` file can hold, or another suffix.
        ImportError: for ``.safetensors`` without that package, naming the extra.
    """
    path = Path(path)
    shape = np.shape(embeddings)
    if len(shape) != 2 or (mirrored is not None and mirrored.shape != shape) or (names is not None and len(names) != shape[0]):
        raise ValueError(f'{path}: expected embeddings [N, D], mirrored of the same shape and N names, got the shape {shape}, '
                         f'{None if mirrored is None else mirrored.shape} and {None if names is None else len(names)} names')
    arrays = dict(embeddings=embeddings) if mirrored is None else dict(embeddings=embeddings, mirrored=mirrored)
    arrays = {key: np.ascontiguousarray(value) for key, value in arrays.items()}  # safetensors writes the buffer as it lies
    if path.suffix == '.safetensors':
        from safetensors.numpy import save
        with atomic_file(path) as file:
            file.write(save(arrays, None if names is None else dict(names=json.dumps(list(names), ensure_ascii=False))))
    elif path.suffix == '.npz':
        if names is not None:
            arrays['names'] = np.array(names, np.str_)
        with atomic_file(path) as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
    elif path.suffix == '.npy' and mirrored is None and names is None:
        with atomic_file(path) as file:
            np.save(file, arrays['embeddings'])
    else:
        raise ValueError(f'{path}: expected .npz or .safetensors, or .npy for embeddings alone')


def _checked(path: Path, what: str, vectors: np.ndarray) -> np.ndarray:
    """The rows in native byte order, C order and at least float32."""
    if vectors.ndim != 2 or vectors.dtype.kind != 'f' or not vectors.size:
        raise DataFormatError(path, what.strip(), f'{vectors.dtype} {vectors.shape}', 'expected floats [N, D], one row an image')
    vectors = np.ascontiguousarray(vectors, np.float64 if vectors.dtype.itemsize == 8 else np.float32)
    limits = np.finfo(np.float32)
    for start in range(0, len(vectors), _ROWS):
        block = vectors[start:start + _ROWS].astype(np.float64)
        square = np.einsum('nd,nd->n', block, block)
        wrong = np.flatnonzero(~((square >= limits.tiny) & (square <= limits.max)))
        if wrong.size:
            row = block[wrong[0]]
            value = ('not finite' if not np.isfinite(row).all() else 'norm 0' if not row.any() else
                     f'norm {"underflows" if square[wrong[0]] < 1 else "overflows"} in float32')
            raise DataFormatError(path, f'{what}row {start + wrong[0]}', value, 'expected a norm whose square float32 can hold')
    return vectors

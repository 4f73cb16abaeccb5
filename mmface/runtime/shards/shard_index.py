"""The table of contents of a shard folder."""
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from mmface.utils.data_format_error import DataFormatError

from .safetensors_stream import CODES

INDEX = 'index.json'
SCHEMA = 1
_DTYPES = {str(dtype).removeprefix('torch.'): dtype for dtype in CODES}


@dataclass(frozen=True)
class Part:
    """The rows ``[start, stop)`` of a tensor, which lie in ``file``."""
    file: str
    start: int
    stop: int


@dataclass(frozen=True)
class StoredTensor:
    """A tensor whose parts, in order, are all of its rows."""
    dtype: str
    shape: list[int]
    parts: list[Part]

    @property
    def torch_dtype(self) -> torch.dtype:
        return _DTYPES[self.dtype]


@dataclass(frozen=True)
class StoredFile:
    """A file of the folder: its size, and its CRC-32."""
    bytes: int
    crc32: int


@dataclass(frozen=True)
class ShardIndex:
    """What a folder of shards holds, of which the tensors' names begin with ``model/``, ``optimizer/`` or ``gradient/``.

    Attributes:
        id: drawn for each folder, and repeated in the ``.pth`` that belongs to it.
        ranks: how many processes wrote it.
        tensors: by name.
        files: by name.
    """
    id: str
    ranks: int
    tensors: dict[str, StoredTensor]
    files: dict[str, StoredFile]

    @classmethod
    def read(cls, folder: Path) -> 'ShardIndex':
        """Reads and checks ``folder/index.json``.

        Raises:
            DataFormatError: where it is absent, damaged, or of a later version.
        """
        path = folder / INDEX
        if not path.is_file():
            raise DataFormatError(path, hint='is missing: every folder of shards has one, written last')
        try:
            index = _parse(json.loads(path.read_text(encoding='utf-8')))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataFormatError(path, value=f'{type(error).__name__}: {error}', hint='damaged') from error
        for name, tensor in index.tensors.items():
            fault = _fault(tensor, index.files)
            if fault:
                raise DataFormatError(path, name, fault, 'damaged')
        return index

    def text(self) -> str:
        """As it is written."""
        return json.dumps(dict(schema=SCHEMA, **asdict(self)), indent=1)

    def check_files(self, folder: Path) -> None:
        """Compares the files of ``folder`` with what is said of them here, without reading their rows.

        Raises:
            DataFormatError: for the first that is missing, truncated or another one.
        """
        from safetensors import SafetensorError, safe_open
        for name, expected in self.files.items():
            path = folder / name
            if not path.is_file():
                raise DataFormatError(path, hint=f'is missing, one of the {len(self.files)} files with the rows of the prototypes')
            size = path.stat().st_size
            if size != expected.bytes:
                raise DataFormatError(path, value=f'{size:,} bytes', hint=f'{expected.bytes:,} were written: it was truncated or replaced')
            try:
                with safe_open(path, 'pt') as file:
                    self._check_shapes(name, {key: file.get_slice(key).get_shape() for key in file.keys()})  # noqa: SIM118 (no iterator)
            except (SafetensorError, ValueError) as error:
                raise DataFormatError(path, value=str(error), hint='damaged') from error

    def _check_shapes(self, file: str, shapes: dict[str, list[int]]) -> None:
        for name, tensor in self.tensors.items():
            for part in tensor.parts:
                if part.file == file and shapes.get(name) != [part.stop - part.start, *tensor.shape[1:]]:
                    raise ValueError(f'its {name!r} has shape {shapes.get(name)}, not that of rows {part.start} to {part.stop} '
                                     f'of {tensor.shape}')


def _parse(found: dict[str, Any]) -> ShardIndex:
    if found['schema'] != SCHEMA:
        raise ValueError(f'it has schema {found["schema"]!r}, and this version of mmface reads {SCHEMA}')
    tensors = {
        str(name): StoredTensor(str(value['dtype']), [int(n) for n in value['shape']],
                                [Part(str(part['file']), int(part['start']), int(part['stop'])) for part in value['parts']])
        for name, value in found['tensors'].items()
    }
    files = {str(name): StoredFile(int(value['bytes']), int(value['crc32'])) for name, value in found['files'].items()}
    return ShardIndex(str(found['id']), int(found['ranks']), tensors, files)


def _fault(tensor: StoredTensor, files: Iterable[str]) -> str | None:
    """What is wrong with a tensor's entry."""
    if tensor.dtype not in _DTYPES:
        return f'has the unknown type {tensor.dtype!r}'
    if not tensor.shape or min(tensor.shape) < 0:
        return f'has the impossible shape {tensor.shape}'
    row = 0
    for part in tensor.parts:
        if part.file not in files or Path(part.file).name != part.file:
            return f'names the file {part.file!r}, which is none of the folder'
        if part.start != row or part.stop < part.start:
            return f'lacks the rows from {row} on: its next part is [{part.start}, {part.stop})'
        row = part.stop
    return None if row == tensor.shape[0] else f'lacks the rows from {row} to {tensor.shape[0]}'

"""Writes a safetensors file piece by piece, so that a tensor larger than memory can pass through."""
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import BinaryIO, NamedTuple

import torch
from torch import Tensor

#: Names of the format for what a head or an optimiser may hold.
CODES = {
    torch.float64: 'F64',
    torch.float32: 'F32',
    torch.float16: 'F16',
    torch.bfloat16: 'BF16',
    torch.int64: 'I64',
    torch.int32: 'I32',
    torch.int16: 'I16',
    torch.int8: 'I8',
    torch.uint8: 'U8',
    torch.bool: 'BOOL',
}
PIECE = 1 << 25  # bytes that are in memory at a time, about


class Stream(NamedTuple):
    """A tensor to write: its type and shape, and pieces of it along dim 0, on any device, that come when they are asked for."""
    dtype: torch.dtype
    shape: tuple[int, ...]
    pieces: Iterable[Tensor]

    @classmethod
    def of(cls, tensor: Tensor) -> 'Stream':
        """All of a tensor."""
        rows = max(1, PIECE // max(1, tensor[:1].numel() * tensor.element_size())) if tensor.ndim else 1
        return cls(tensor.dtype, tuple(tensor.shape), tensor.split(rows) if tensor.ndim else [tensor])


def write_safetensors(file: BinaryIO, tensors: Mapping[str, Stream], metadata: Mapping[str, str] | None = None) -> tuple[int, int]:
    """Writes ``tensors`` and text ``metadata``, in the layout of https://github.com/huggingface/safetensors.

    Returns:
        The number of bytes, and their CRC-32.

    Raises:
        ValueError: for a type that the format does not know, or pieces that are not the announced tensor.
    """
    ordered = sorted(tensors.items(), key=lambda item: -item[1].dtype.itemsize)  # each then begins at a multiple of its size
    header: dict[str, object] = {'__metadata__': {'format': 'pt', **(metadata or {})}}
    end = 0
    for name, (dtype, shape, _) in ordered:
        if dtype not in CODES:
            raise ValueError(f'{name} is of type {dtype}, which a safetensors file cannot hold')
        start, end = end, end + _size(dtype, shape)
        header[name] = dict(dtype=CODES[dtype], shape=list(shape), data_offsets=[start, end])
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    text = len(text).to_bytes(8, 'little') + text
    file.write(text)
    total, check = len(text), zlib.crc32(text)
    for name, (dtype, shape, pieces) in ordered:
        left = _size(dtype, shape)
        for piece in pieces:
            data = piece.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data
            left -= len(data)
            if piece.dtype != dtype or left < 0:
                break
            file.write(data)
            total, check = total + len(data), zlib.crc32(data, check)
        if left:
            raise ValueError(f'the pieces of {name} are not a {dtype} tensor of shape {list(shape)}')
    return total, check


def _size(dtype: torch.dtype, shape: tuple[int, ...]) -> int:
    return torch.Size(shape).numel() * dtype.itemsize

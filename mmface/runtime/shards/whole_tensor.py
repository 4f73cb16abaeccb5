"""Tensors of a shard folder, whole again."""
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from .safetensors_stream import PIECE, Stream
from .shard_index import ShardIndex


def stream(folder: Path, index: ShardIndex, name: str) -> Stream:
    """A tensor of ``folder`` to write elsewhere, a piece at a time."""
    stored = index.tensors[name]
    return Stream(stored.torch_dtype, tuple(stored.shape), _pieces(folder, index, name))


def whole(folder: Path, index: ShardIndex, name: str) -> Tensor:
    """A tensor of ``folder``, which is in memory once."""
    stored = index.tensors[name]
    tensor, row = torch.empty(stored.shape, dtype=stored.torch_dtype), 0
    for piece in _pieces(folder, index, name):
        tensor[row:row + len(piece)] = piece
        row += len(piece)
    return tensor


def _pieces(folder: Path, index: ShardIndex, name: str) -> Iterator[Tensor]:
    from safetensors import safe_open
    stored = index.tensors[name]
    step = max(1, PIECE // max(1, torch.Size(stored.shape[1:]).numel() * stored.torch_dtype.itemsize))
    for part in stored.parts:
        with safe_open(folder / part.file, 'pt') as file:
            rows = file.get_slice(name)
            for start in range(0, part.stop - part.start, step):
                yield rows[start:start + step]

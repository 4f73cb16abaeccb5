"""A sharded checkpoint becomes a whole one."""
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mmface.utils.atomic_file import atomic_file

from .open_shards import place_of_shards, read_checkpoint, shards_in, shards_of
from .safetensors_stream import write_safetensors
from .shard_index import ShardIndex
from .training_rows import row_sparse
from .whole_tensor import stream, whole


def merge(source: Path, output: Path) -> list[str]:
    """Writes the prototypes of ``source`` whole.

    Args:
        source: ``<name>.pth``, or ``<name>.shards``.
        output: ``.safetensors``: the sharded tensors of the model, by their names in it, a piece in memory at a time. ``.pth``: the
            checkpoint that a run with a whole head would have written, optimiser included, which such a run resumes from; of a folder
            alone, a state dict. Every tensor is in memory once.

    Returns:
        The names of the tensors of the model.

    Raises:
        ValueError: where a file is missing, damaged or another checkpoint's, or for another ending; the message names it.
    """
    if output.suffix not in ('.pth', '.safetensors'):
        raise ValueError(f'{output} must end in .pth or .safetensors')
    checkpoint: dict[str, Any] = {'state_dict': {}} if source.is_dir() else read_checkpoint(source)
    folder, index = shards_in(source) if source.is_dir() else shards_of(source, place_of_shards(source, checkpoint))
    names = [name.removeprefix('model/') for name in index.tensors if name.startswith('model/')]
    with atomic_file(output) as file:
        if output.suffix == '.safetensors':
            write_safetensors(file, {name: stream(folder, index, f'model/{name}') for name in names})
        else:
            checkpoint['state_dict'] |= {name: whole(folder, index, f'model/{name}') for name in names}
            place = checkpoint.get('meta', {}).pop('shards', {})
            if 'optimizer' in checkpoint:
                complete_optimizer(checkpoint['optimizer'], place['optimizer'], folder, index)
            torch.save(checkpoint, file)
    return names


def complete_optimizer(state: dict[str, Any], positions: dict[str, int], folder: Path, index: ShardIndex) -> None:
    """Puts state and gradients of the sharded parameters, which are at ``positions``, into an optimiser wrapper's state dict."""
    for parameter, i in positions.items():
        prefix = f'optimizer/{parameter}/'
        for name in index.tensors:
            if name.startswith(prefix):
                state['state'].setdefault(i, {})[name.removeprefix(prefix)] = whole(folder, index, name)
        grad = gradient(f'gradient/{parameter}', index.tensors[f'model/{parameter}'].shape, folder, index)
        if grad is not None:
            state.setdefault('grads', {})[i] = grad


def gradient(name: str, shape: list[int], folder: Path, index: ShardIndex) -> Tensor | None:
    """The gradient of an unfinished accumulation, dense or row-sparse, if there was one."""
    if name in index.tensors:
        return whole(folder, index, name)
    if f'{name}/rows' not in index.tensors:
        return None
    rows, values = (whole(folder, index, f'{name}/{part}') for part in ('rows', 'values'))
    return row_sparse(rows, values, shape)

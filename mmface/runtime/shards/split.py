"""A whole checkpoint becomes a sharded one."""
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mmface.models.heads.class_shard import ShardSpec
from mmface.utils.atomic_file import atomic_file
from mmface.utils.data_format_error import DataFormatError

from .open_shards import read_checkpoint
from .rows import Rows
from .shard_folder import SHARDS, keep_only, save_shards

#: Tensors of a head that have a row for each class.
PER_CLASS = ('head.weight', 'head.bias', 'head.memory', 'head.seen')


def split(source: Path, output: Path) -> list[str]:
    """Writes the checkpoint ``source`` of a whole head as one of a sharded head, which any number of ranks resumes from.

    A rank then reads its rows only, whereas of a whole file every rank reads all.

    Args:
        source: ``.pth``; its tensors are read as they are written.
        output: ``<name>.pth``, beside which ``<name>.shards`` is made.

    Returns:
        The names of the tensors that went to the shards.

    Raises:
        ValueError: for a file without prototypes, or one whose optimiser has several states that could be theirs.
    """
    checkpoint = read_checkpoint(source)
    if output.suffix != '.pth' or output.resolve() == source.resolve():
        raise ValueError(f'{output} must end in .pth and be another file than {source}')
    if 'shards' in checkpoint.get('meta', {}):
        raise DataFormatError(source, hint='is sharded already')
    state = checkpoint.get('state_dict', {})
    names = [name for name in PER_CLASS if name in state]
    if 'head.weight' not in names:
        raise DataFormatError(source, 'state_dict', hint='has no head.weight: there is nothing to split')
    rows = {f'model/{name}': _all(state.pop(name)) for name in names}
    optimizer = checkpoint.get('optimizer')
    positions = {} if optimizer is None else _take_optimizer(optimizer, rows, source)
    folder = output.with_suffix(SHARDS)
    name = save_shards(folder, rows)
    shapes = {tensor: list(rows[f'model/{tensor}'].shape) for tensor in names}
    checkpoint.setdefault('meta', {})['shards'] = dict(folder=folder.name, id=name, tensors=shapes, optimizer=positions)
    with atomic_file(output) as file:
        torch.save(checkpoint, file)
    keep_only(folder, name)
    return names


def _all(tensor: Tensor) -> Rows:
    return Rows(tensor, ShardSpec(len(tensor), 0, len(tensor)))


def _take_optimizer(optimizer: dict[str, Any], rows: dict[str, Rows], source: Path) -> dict[str, int]:
    """Moves what belongs to the prototypes from an optimiser's state to ``rows``; returns the position of each parameter.

    The file numbers its parameters and does not name them: theirs are those of the prototypes' shape.
    """
    grads = optimizer.get('grads', {})
    positions = {}
    for name in ('head.weight', 'head.bias'):
        if f'model/{name}' not in rows:
            continue
        shape = rows[f'model/{name}'].shape
        found = sorted({i for i, of_parameter in optimizer['state'].items() if any(_has_shape(v, shape) for v in of_parameter.values())}
                       | {i for i, grad in grads.items() if _has_shape(grad, shape)})
        if len(found) > 1:
            raise DataFormatError(source, 'optimizer', f'parameters {found}', f'all have the shape {list(shape)} of {name}')
        for i in found:
            positions[name] = i
            of_parameter = optimizer['state'].get(i, {})
            for key in [key for key, value in of_parameter.items() if _has_shape(value, shape)]:
                rows[f'optimizer/{name}/{key}'] = _all(of_parameter.pop(key))
            rows |= _gradient(f'gradient/{name}', grads.pop(i, None))
    if not grads:
        optimizer.pop('grads', None)
    return positions


def _has_shape(value: Any, shape: torch.Size) -> bool:
    return isinstance(value, Tensor) and value.shape == shape


def _gradient(name: str, grad: Tensor | None) -> dict[str, Rows]:
    if grad is None:
        return {}
    if not grad.is_sparse:
        return {name: _all(grad)}
    grad = grad.coalesce()
    return {f'{name}/rows': _all(grad.indices()[0]), f'{name}/values': _all(grad.values())}

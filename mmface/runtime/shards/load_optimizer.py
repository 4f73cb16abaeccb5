"""The optimiser's part of a shard folder."""
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from mmface.models.heads.class_shard import ShardSpec

from .rows import Rows
from .shard_folder import load_shards
from .shard_index import ShardIndex
from .training_rows import places, row_sparse


def load_optimizer(folder: Path, index: ShardIndex, state: dict[str, Any], model: nn.Module, optimizer: Optimizer) -> None:
    """Completes ``state``, an optimiser wrapper's state dict without the shards, with this rank's rows; all ranks call it.

    Raises:
        ValueError: on all ranks, where one could not read.
    """
    rows: dict[str, Rows] = {}
    grads = {}
    for i, (name, parameter, spec) in places(model, optimizer).items():
        prefix = f'optimizer/{name}/'
        of_parameter = state['state'].setdefault(i, {})
        for stored in index.tensors:
            if stored.startswith(prefix):
                rows[stored] = _empty(index, stored, parameter, spec)
                of_parameter[stored.removeprefix(prefix)] = rows[stored].local
        if (stored := f'gradient/{name}') in index.tensors:
            rows[stored] = _empty(index, stored, parameter, spec)
            grads[i] = rows[stored].local
        elif f'{stored}/rows' in index.tensors:
            grads[i] = _sparse(folder, index, stored, parameter, spec)
    load_shards(folder, index, rows)
    if grads:
        state['grads'] = {**state.get('grads', {}), **grads}


def _empty(index: ShardIndex, name: str, like: Tensor, spec: ShardSpec) -> Rows:
    stored = index.tensors[name]
    return Rows(torch.empty(spec.stop - spec.start, *stored.shape[1:], dtype=stored.torch_dtype, device=like.device), spec)


def _sparse(folder: Path, index: ShardIndex, name: str, parameter: Tensor, spec: ShardSpec) -> Tensor:
    """This rank's part of a row-sparse gradient."""
    count = index.tensors[f'{name}/rows'].shape[0]
    every = _empty(index, f'{name}/rows', parameter, ShardSpec(count, 0, count))
    load_shards(folder, index, {f'{name}/rows': every})
    start, stop = torch.searchsorted(every.local, torch.tensor([spec.start, spec.stop], device=parameter.device)).tolist()
    values = _empty(index, f'{name}/values', parameter, ShardSpec(count, start, stop))
    load_shards(folder, index, {f'{name}/values': values})
    return row_sparse(every.local[start:stop] - spec.start, values.local, parameter.shape)

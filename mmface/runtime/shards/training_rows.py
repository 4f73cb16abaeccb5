"""What of a training lies in a shard folder: all that has a row for every prototype.

Names there: ``model/<tensor>``, ``optimizer/<parameter>/<state>``, and for an unfinished accumulation ``gradient/<parameter>``, or, of a
row-sparse gradient, ``gradient/<parameter>/rows`` (int64, rising) and ``gradient/<parameter>/values``.
"""
from collections.abc import Sequence
from typing import Any

import torch
from mmengine.dist import all_gather_object
from torch import Tensor, nn
from torch.optim import Optimizer

from mmface.models.heads.class_shard import ShardSpec, sharded_tensors

from .rows import Rows


def model_rows(model: nn.Module) -> dict[str, Rows]:
    """This rank's rows of the sharded parameters and buffers."""
    return {f'model/{name}': Rows(tensor.detach(), spec) for name, (tensor, spec) in sharded_tensors(model).items()}


def optimizer_rows(model: nn.Module, optimizer: Optimizer) -> dict[str, Rows]:
    """This rank's rows of the optimiser's state and of the gradients; all ranks call it.

    Raises:
        ValueError: for an optimiser whose state belongs neither to single numbers nor to the parameter as a whole.
    """
    rows = {}
    learned = {name: (p, spec) for name, (p, spec) in sharded_tensors(model).items() if isinstance(p, nn.Parameter)}
    for name, (parameter, spec) in learned.items():
        for key, value in optimizer.state.get(parameter, {}).items():
            if has_rows(value, parameter):
                rows[f'optimizer/{name}/{key}'] = Rows(value, spec)
            elif isinstance(value, Tensor) and value.numel() != 1:
                raise ValueError(f'{type(optimizer).__name__} keeps {key!r} of shape {list(value.shape)} for {name} of shape '
                                 f'{list(parameter.shape)}: a head can be sharded under optimisers that treat each number alone '
                                 '(SGD, Adam, AdamW ...)')
    counts = all_gather_object({name: _entries(parameter.grad) for name, (parameter, _) in learned.items()})
    for name, (parameter, spec) in learned.items():
        rows |= _gradient_rows(f'gradient/{name}', parameter.grad, spec, [counts_of_rank[name] for counts_of_rank in counts])
    return rows


def has_rows(value: Any, parameter: Tensor) -> bool:
    """Whether a value of an optimiser's state has a number for each of the parameter's."""
    return isinstance(value, Tensor) and value.shape == parameter.shape


def places(model: nn.Module, optimizer: Optimizer) -> dict[int, tuple[str, Tensor, ShardSpec]]:
    """Name, parameter and rows of the sharded parameters, by their position in the optimiser's groups and state dict."""
    by_tensor = {tensor: (name, tensor, spec) for name, (tensor, spec) in sharded_tensors(model).items()}
    parameters = [p for group in optimizer.param_groups for p in group['params']]
    return {i: by_tensor[p] for i, p in enumerate(parameters) if p in by_tensor}


def without_rows(state: dict[str, Any], model: nn.Module, optimizer: Optimizer) -> dict[str, Any]:
    """An optimiser wrapper's state dict without what lies in the shard folder."""
    sharded = places(model, optimizer)
    kept = {
        i: {key: value for key, value in of_parameter.items() if i not in sharded or not has_rows(value, sharded[i][1])}
        for i, of_parameter in state['state'].items()
    }
    grads = {i: grad for i, grad in state.get('grads', {}).items() if i not in sharded}
    rest = {key: value for key, value in state.items() if key != 'grads'}
    return {**rest, 'state': kept, **({'grads': grads} if grads else {})}


def sliced(state: dict[str, Any], model: nn.Module, optimizer: Optimizer) -> dict[str, Any]:
    """The state dict of an optimiser wrapper of a whole head, cut down to this rank's rows."""
    sharded = places(model, optimizer)

    def cut(i: int, value: Any) -> Any:
        if i not in sharded or not isinstance(value, Tensor):
            return value
        _, parameter, spec = sharded[i]
        return rows_of(value, spec) if value.shape == (spec.size, *parameter.shape[1:]) else value

    kept = {i: {key: cut(i, value) for key, value in of_parameter.items()} for i, of_parameter in state['state'].items()}
    grads = {i: cut(i, grad) for i, grad in state.get('grads', {}).items()}
    return {**state, 'state': kept, **({'grads': grads} if grads else {})}


def rows_of(whole: Tensor, spec: ShardSpec) -> Tensor:
    """A copy of the rows that ``spec`` names of a dense or row-sparse tensor."""
    if not whole.is_sparse:
        return spec.slice(whole).clone()
    whole = whole.coalesce()
    rows = whole.indices()[0]
    inside = (rows >= spec.start) & (rows < spec.stop)
    return row_sparse(rows[inside] - spec.start, whole.values()[inside], (spec.stop - spec.start, *whole.shape[1:]))


def row_sparse(rows: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """The tensor of ``shape`` that has ``values`` in ``rows``, int64, rising, and is 0 elsewhere."""
    return torch.sparse_coo_tensor(rows.unsqueeze(0), values, torch.Size(shape), check_invariants=True, is_coalesced=True)


def _entries(grad: Tensor | None) -> int:
    return grad.coalesce().values().shape[0] if grad is not None and grad.is_sparse else 0


def _gradient_rows(name: str, grad: Tensor | None, spec: ShardSpec, counts: list[int]) -> dict[str, Rows]:
    if grad is None:
        return {}
    if not grad.is_sparse:
        return {name: Rows(grad, spec)}
    grad = grad.coalesce()
    # Each rank's rows come after those of the ranks before it: all together they rise, and are split over the ranks in turn.
    rank = torch.distributed.get_rank() if len(counts) > 1 else 0
    start = sum(counts[:rank])
    entries = ShardSpec(sum(counts), start, start + counts[rank])
    return {f'{name}/rows': Rows(grad.indices()[0] + spec.start, entries), f'{name}/values': Rows(grad.values(), entries)}

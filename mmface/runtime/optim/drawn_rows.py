"""Shows an optimiser only the rows of its parameters that have a gradient."""
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


class _Swap(NamedTuple):
    """A parameter in a group's list ``group[place]``, and what stands in for its rows ``rows``, int64 distinct."""
    group: list[Tensor]
    place: int
    parameter: Tensor
    rows: Tensor
    stand_in: nn.Parameter


@contextmanager
def drawn_rows(optimizer: Optimizer) -> Iterator[dict[Tensor, Tensor]]:
    """Inside, the drawn rows stand in for every parameter with a row-sparse gradient, with a dense gradient and with their optimiser state.

    Any stock optimiser, fused ones included, then steps these rows as it would any parameter, and clipping sees them. On the way out, rows
    and state go back to their places. The other rows keep weight, momentum and moments, and no decay touches them. A step count belongs to
    the parameter and counts its steps.

    Yields:
        The stand-ins by parameter.
    """
    swaps = [
        _stand_in(group['params'], place, optimizer.state) for group in optimizer.param_groups for place, p in enumerate(group['params'])
        if p.grad is not None and p.grad.is_sparse
    ]
    try:
        for swap in swaps:
            swap.group[swap.place] = swap.stand_in
        yield {swap.parameter: swap.stand_in for swap in swaps}
    finally:
        for swap in swaps:
            swap.group[swap.place] = swap.parameter
            _put_back(swap, optimizer.state)


def _stand_in(group: list[Tensor], place: int, state: dict[Tensor, dict[str, Any]]) -> _Swap:
    parameter = group[place]
    gradient = parameter.grad
    if not gradient._indices()[0].diff().gt(0).all():  # several draws; autograd forgets that a single one is in order
        parameter.grad = gradient = gradient.coalesce()
    rows = gradient._indices()[0]
    stand_in = nn.Parameter(parameter.detach().index_select(0, rows))
    stand_in.grad = gradient._values()
    if parameter in state:
        state[stand_in] = {k: v.index_select(0, rows) if _by_row(v, parameter) else v for k, v in state[parameter].items()}
    return _Swap(group, place, parameter, rows, stand_in)


def _put_back(swap: _Swap, state: dict[Tensor, dict[str, Any]]) -> None:
    swap.parameter.detach().index_copy_(0, swap.rows, swap.stand_in.detach())
    for key, value in state.pop(swap.stand_in, {}).items():
        whole = state[swap.parameter]
        if not _by_row(value, swap.stand_in):
            whole[key] = value
            continue
        if key not in whole:
            whole[key] = torch.zeros_like(swap.parameter)
        whole[key].index_copy_(0, swap.rows, value)


def _by_row(value: Any, parameter: Tensor) -> bool:
    return isinstance(value, Tensor) and value.shape == parameter.shape

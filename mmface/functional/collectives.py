"""What the ranks of a distributed training tell one another; without a process group there is one rank. None of it carries a gradient."""
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor


def world_size() -> int:
    """The number of processes that train together, 1 without a process group."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def this_rank() -> int:
    """The number of this process among them, 0 without a process group."""
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def sum_over_ranks(tensor: Tensor) -> Tensor:
    """The sum of ``tensor`` over all ranks, equal on every rank; carries no gradient across ranks.

    For statistics of the batch, which the losses use detached.
    """
    if world_size() == 1:
        return tensor
    total = tensor.detach().clone()
    dist.all_reduce(total)
    return total


def maximum_over_ranks(tensor: Tensor) -> Tensor:
    """The elementwise maximum of ``tensor`` over all ranks, equal on every rank."""
    if world_size() == 1:
        return tensor.detach()
    largest = tensor.detach().clone()
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    return largest


def rows_before(rows: int) -> int:
    """How many rows the lower ranks have, given how many this one has."""
    if world_size() == 1:
        return 0
    counts = torch.zeros(world_size(), dtype=torch.int64)
    counts[dist.get_rank()] = rows
    return int(sum_over_ranks(counts)[:dist.get_rank()].sum())


def gathered(rows: Tensor) -> Tensor:
    """The rows ``[B, ...]`` of all ranks, ``[W * B, ...]``: row i of rank r at i * W + r; B is the same on all ranks.

    In this order, in which the samplers deal samples to ranks, they are the same for any number of ranks.
    """
    if world_size() == 1:
        return rows.detach()
    everyone = rows.new_empty(world_size() * len(rows), *rows.shape[1:])
    _named('all_gather_single', 'all_gather_into_tensor')(everyone, rows.detach().contiguous())
    return everyone.unflatten(0, (world_size(), -1)).transpose(0, 1).flatten(0, 1)


def sum_of_own_rows(rows: Tensor) -> Tensor:
    """This rank's share ``[B, ...]`` of the sum over ranks of ``rows`` ``[W * B, ...]``: the adjoint of :func:`gathered`."""
    if world_size() == 1:
        return rows.detach()
    own = rows.new_empty(len(rows) // world_size(), *rows.shape[1:])
    by_rank = rows.detach().unflatten(0, (-1, world_size())).transpose(0, 1).flatten(0, 1)
    _named('reduce_scatter_single', 'reduce_scatter_tensor')(own, by_rank.contiguous())
    return own


def agree(problem: str | None, values: dict[str, int], device: torch.device) -> None:
    """Lets all ranks end together: called on each of them, it raises on all of them or on none.

    Args:
        problem: what this rank has to complain about, or None.
        values: numbers that must be the same everywhere, by what they are called in the message; the same names on every rank.
        device: where tensors that are exchanged live.

    Raises:
        ValueError: where a rank has a problem, or where the values differ.
    """
    everyone = gathered(torch.tensor([[problem is not None, *values.values()]], dtype=torch.int64, device=device)).tolist()
    if any(found for found, *_ in everyone):
        problems: list[str | None] = [problem]
        if world_size() > 1:
            problems = [None] * world_size()
            dist.all_gather_object(problems, problem)
        on = {text: f' (on rank {rank})' if world_size() > 1 else '' for rank, text in enumerate(problems) if text is not None}
        raise ValueError('; '.join(text + rank for text, rank in on.items()))
    if everyone.count(everyone[0]) < len(everyone):
        _, *columns = zip(*everyone, strict=True)
        different = [f'{name} is {list(column)}' for name, column in zip(values, columns, strict=True) if len(set(column)) > 1]
        raise ValueError(f'ranks 0 to {world_size() - 1} disagree: {"; ".join(different)}')


def _named(name: str, until_2_13: str) -> Callable:
    """A collective of torch, by the name it has since 2.14 or by the one it had before."""
    return getattr(dist, name, None) or getattr(dist, until_2_13)

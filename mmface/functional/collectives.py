"""Sums over the ranks of a distributed training; the identity in a single process."""
import torch
import torch.distributed as dist
from torch import Tensor


def world_size() -> int:
    """The number of processes that train together, 1 without a process group."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def sum_over_ranks(tensor: Tensor) -> Tensor:
    """The sum of ``tensor`` over all ranks, equal on every rank; carries no gradient across ranks.

    For statistics of the batch, which the losses use detached.
    """
    if world_size() == 1:
        return tensor
    total = tensor.detach().clone()
    dist.all_reduce(total)
    return total


def rows_before(rows: int) -> int:
    """How many rows the lower ranks have, given how many this one has."""
    if world_size() == 1:
        return 0
    counts = torch.zeros(world_size(), dtype=torch.int64)
    counts[dist.get_rank()] = rows
    return int(sum_over_ranks(counts)[:dist.get_rank()].sum())

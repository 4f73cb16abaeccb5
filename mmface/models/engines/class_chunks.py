"""The classes that take part in a pass, chunk by chunk."""
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

#: Floats of a chunk's prototypes, at most, and twice those of its similarities: about as many as stay in a CPU's cache while they are
#: worked on; elsewhere, enough to be worth a launch.
CPU_CHUNK, CHUNK = 2**20, 2**23


class Chunk(NamedTuple):
    """A range of classes, and where in it the targets of the B rows are.

    Attributes:
        classes: the range, among the classes that take part.
        rows: the range of their prototypes, of which each class has K.
        targets: int64 ``[T]``, the places of the targets in a flattened ``[k, B]``.
        others: int64 ``[T]``, for each of them that of another class, of the same row.
    """
    classes: slice
    rows: slice
    targets: Tensor
    others: Tensor

    def sum_of_negatives(self, values: Tensor) -> Tensor:
        """The sum over classes ``[B]`` of ``values`` ``[k, B]`` of hidden similarities.

        A target's is taken out of the sum: being that of a negative too, it is no larger than what remains.
        """
        total = values.sum(0)
        return total.index_add_(0, self.targets % len(total), values.reshape(-1)[self.targets], alpha=-1)

    def put(self, values: Tensor, at_target: float) -> Tensor:
        """Overwrites the targets in ``values`` ``[k, B]``, contiguous, in place."""
        values.view(-1).index_fill_(0, self.targets, at_target)
        return values

    def hide(self, values: Tensor) -> Tensor:
        """Overwrites the targets in ``values`` ``[k, B]``, contiguous, in place: with another negative, or 0 in a chunk of one class.

        A negative neither raises a maximum nor has a slope that no negative has.
        """
        if len(values) == 1:
            return self.put(values, 0.)
        flat = values.view(-1)
        flat.index_copy_(0, self.targets, flat[self.others])
        return values


def default_size(features: Tensor, by_autograd: bool) -> int:
    """How many classes to work on at a time, for features ``[B, D]``; autograd keeps results on the way, and gets half as many."""
    (rows, dim), floats = features.shape, CPU_CHUNK if features.device.type == 'cpu' else CHUNK
    return max(floats // max(dim, 2 * rows) // (2 if by_autograd else 1), 128)


def split(count: int, labels: Tensor, num_centers: int, size: int) -> Iterator[Chunk]:
    """Splits ``count`` classes into chunks as equal as possible, none of one class where that can be avoided.

    Args:
        count: how many classes take part.
        labels: int64 ``[B]`` in ``[0, count)``, or -1 where the target is not among them.
        num_centers: K.
        size: classes in a chunk, at most.
    """
    chunks, batch = -(-count // size), len(labels)
    bounds = [count * i // chunks for i in range(chunks + 1)]
    in_order, order = labels.sort()
    first = torch.searchsorted(in_order, torch.tensor(bounds, device=labels.device)).tolist()
    for (low, high), (start, end) in zip(pairwise(bounds), pairwise(first), strict=True):
        place, row = in_order[start:end] - low, order[start:end]
        yield Chunk(
            classes=slice(low, high),
            rows=slice(low * num_centers, high * num_centers),
            targets=place * batch + row,
            others=(place + 1) % (high - low) * batch + row)

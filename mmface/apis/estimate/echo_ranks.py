"""What a step would say to other ranks, found in one process."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch.distributed as dist
from torch import Tensor


class Traffic:
    """The bytes that a rank hands to collective operations, each counted with the larger of its tensors.

    A ring sends (W - 1) / W of them for a gather or a scatter, and twice as much for a sum.

    Attributes:
        calls: (operation, bytes) of each.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def add(self, operation: str, tensor: Tensor) -> None:
        self.calls.append((operation, tensor.nbytes))

    @property
    def total(self) -> int:
        return sum(size for _, size in self.calls)


@contextmanager
def echo_ranks(world: int) -> Iterator[Traffic]:
    """Inside, this process is rank 0 of ``world`` ranks that all do what it does; the process group of this process has to be none.

    Sums are ``world`` times the own value, and what is gathered are copies. Shapes, memory and traffic are those of the real thing.
    """
    traffic = Traffic()

    def all_reduce(tensor: Tensor, op: Any = dist.ReduceOp.SUM, *_: Any, **__: Any) -> None:
        traffic.add('all_reduce', tensor)
        if op == dist.ReduceOp.SUM:
            tensor.mul_(world)

    def all_gather_into_tensor(output: Tensor, tensor: Tensor, *_: Any, **__: Any) -> None:
        traffic.add('all_gather', output)
        output.view(world, -1).copy_(tensor.reshape(1, -1).expand(world, -1))

    def all_gather(outputs: list[Tensor], tensor: Tensor, *_: Any, **__: Any) -> None:
        for output in outputs:
            traffic.add('all_gather', output)
            output.copy_(tensor)

    def reduce_scatter_tensor(output: Tensor, tensor: Tensor, *_: Any, **__: Any) -> None:
        traffic.add('reduce_scatter', tensor)
        output.view(-1).copy_(tensor.reshape(world, -1)[0]).mul_(world)

    def broadcast(tensor: Tensor, *_: Any, **__: Any) -> None:
        traffic.add('broadcast', tensor)

    stand_ins: dict[str, Callable] = dict(
        is_initialized=lambda: True, get_world_size=lambda *_: world, get_rank=lambda *_: 0, get_backend=lambda *_: 'gloo',
        all_reduce=all_reduce, all_gather_into_tensor=all_gather_into_tensor, all_gather_single=all_gather_into_tensor,
        all_gather=all_gather, reduce_scatter_tensor=reduce_scatter_tensor, reduce_scatter_single=reduce_scatter_tensor,
        broadcast=broadcast)
    originals = {name: getattr(dist, name) for name in stand_ins if hasattr(dist, name)}  # older versions lack some
    try:
        for name in originals:
            setattr(dist, name, stand_ins[name])
        yield traffic
    finally:
        for name, original in originals.items():
            setattr(dist, name, original)

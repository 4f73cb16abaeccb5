"""Which part of a head's tensors this rank holds."""
from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class ShardSpec:
    """A tensor of ``size`` rows, of which this rank holds those in ``[start, stop)``."""
    size: int
    start: int
    stop: int

    def slice(self, whole: Tensor) -> Tensor:
        """This rank's rows of the whole tensor ``[size, ...]``."""
        return whole[self.start:self.stop]


def class_range(num_classes: int, rank: int, world: int) -> tuple[int, int]:
    """The classes ``[start, stop)`` of a rank: those of :func:`torch.chunk`, of which the last may be fewer, or none."""
    each = -(-num_classes // world)
    return min(rank * each, num_classes), min((rank + 1) * each, num_classes)


def sharded_tensors(model: nn.Module) -> dict[str, tuple[Tensor, ShardSpec]]:
    """Every sharded parameter and buffer of ``model``, by its full name there (wrappers included), and which rows of the whole it is."""
    found = {}
    for prefix, module in model.named_modules():
        for name, spec in getattr(module, 'shard_spec', {}).items():
            found[f'{prefix}.{name}' if prefix else name] = getattr(module, name), spec
    return found

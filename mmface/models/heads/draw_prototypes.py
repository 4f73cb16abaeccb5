"""The prototypes that a training starts from."""
import torch
from torch import Tensor

#: Prototypes are drawn in blocks of this many classes, each with a generator of its own.
INIT_BLOCK = 4096


def draw_prototypes(start: int, stop: int, rows_per_class: int, dim: int, std: float, seed: int) -> Tensor:
    """N(0, std) prototypes ``[(stop - start) * rows_per_class, dim]`` of the classes ``[start, stop)``.

    They depend on (seed, class) only, not on how the classes are split. One block at a time is drawn beside them.
    """
    prototypes = torch.empty((stop - start) * rows_per_class, dim)
    for block in range(start // INIT_BLOCK, -(-stop // INIT_BLOCK) if stop > start else 0):
        first = block * INIT_BLOCK
        # The generator looks at 32 bits of its seed only; the odd factor spreads the seeds' blocks over them.
        generator = torch.Generator().manual_seed((seed * 0x9E3779B1 + block) % 2**32)
        drawn = torch.randn(INIT_BLOCK * rows_per_class, dim, generator=generator)
        low, high = max(first, start), min(first + INIT_BLOCK, stop)
        prototypes[(low - start) * rows_per_class:(high - start) * rows_per_class] = drawn[(low - first) * rows_per_class:(high - first) *
                                                                                           rows_per_class]
    return prototypes.mul_(std)

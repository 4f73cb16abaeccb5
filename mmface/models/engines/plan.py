"""How a pass over the classes goes."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .class_chunks import Chunk
from .lent_memory import LentMemory
from .negatives import Negatives
from .products import Products
from .rows import Rows

#: From rows ``[n, D]`` of the weight and their numbers, int64 ``[n]``, to the prototypes used in their place; differentiable in the rows.
Mix = Callable[[Tensor, Tensor], Tensor]


@dataclass
class Plan:
    """What a pass does with a chunk, apart from the negatives' statistic.

    Attributes:
        rows: which rows of the weight take part.
        chunks: the classes that take part, in pieces.
        negatives: the statistic.
        num_centers: K.
        unit: whether prototypes are normalised.
        mix: what is done to rows of the weight first, or None.
        store: the memory of the one C x B buffer, or None to compute similarities twice.
        gradient: the memory of the gradient of the prototypes.
        products: multiplies matrices.
    """
    rows: Rows
    chunks: Sequence[Chunk]
    negatives: Negatives
    num_centers: int
    unit: bool
    mix: Mix | None
    store: LentMemory | None
    gradient: LentMemory
    products: Products

    @property
    def num_classes(self) -> int:
        return self.chunks[-1].classes.stop

    def prototypes(self, weight: Tensor, chunk: Chunk) -> Tensor:
        """``[k * K, D]``; not to be written to."""
        rows = self.rows.read(weight, chunk.rows)
        return rows if self.mix is None else self.mix(rows, self.rows.numbers(weight, chunk.rows))

    def through_mix(self, weight: Tensor, chunk: Chunk, gradient: Tensor) -> None:
        """Turns the gradient in the prototypes of a chunk into that in the rows they are made of, in place."""
        if self.mix is not None:
            rows = self.rows.read(weight, chunk.rows).detach().requires_grad_()
            with torch.enable_grad():
                mixed = self.mix(rows, self.rows.numbers(weight, chunk.rows))
            gradient.copy_(torch.autograd.grad(mixed, rows, gradient)[0])

    def similarities(self, prototypes: Tensor, inverse: Tensor | None, features: Tensor, bias: Tensor | None,
                     out: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """The similarities of a chunk ``[k, B]``, in ``out`` where a class has one centre; else also the centre each is of, ``[k, B]``."""
        v, center = self.products(prototypes, features.t(), out=out if self.num_centers == 1 else None), None
        if inverse is not None:
            v.mul_(inverse)
        if self.num_centers > 1:
            v, center = v.view(len(v) // self.num_centers, self.num_centers, len(features)).max(1)
        if bias is not None:
            v.add_(bias.unsqueeze(1))
        return v, center

    def spread(self, slope: Tensor, center: Tensor | None) -> Tensor:
        """Slopes in the classes ``[k, B]`` as slopes in their centres ``[k * K, B]``."""
        if center is None:
            return slope
        classes, batch = slope.shape
        return slope.new_zeros(classes, self.num_centers, batch).scatter_(1, center.long().unsqueeze(1), slope.unsqueeze(1)).flatten(0, 1)

"""The elementwise half of a pass: what a chunk of similarities adds to the statistic of the negatives, and the slope of that."""
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .class_chunks import Chunk


class Negatives(ABC):
    """A statistic of the negatives, a chunk of classes at a time.

    Attributes:
        kind: ``'lse'`` or ``'sum'``.
        bounded: for ``'lse'``, whether no exp(z) overflows or vanishes, so that none has to be divided by a maximum.
    """
    kind = 'lse'
    bounded = False

    @abstractmethod
    def total(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor]) -> tuple[Tensor, Tensor | None]:
        """What a chunk adds.

        Args:
            v: similarities ``[k, B]``, where targets are hidden.
            chunk: knows where the targets are.
            params: of z.

        Returns:
            The sum over the chunk's negatives of ``exp(z - R)`` (``'lse'``) or h (``'sum'``), ``[B]``; and R ``[B]``, the row's largest z,
            or None where it is taken to be 0.
        """

    @abstractmethod
    def slope(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor], S: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        """How the statistic changes with a chunk's similarities.

        Args:
            v: similarities ``[k, B]``, where targets are hidden.
            chunk: knows where the targets are.
            params: of z.
            S: the statistic ``[B]``.

        Returns:
            ``e dz/dv`` ``[k, B]``, 0 at the targets and free to be written to, and for each parameter that requires a gradient the sum over
            the chunk of ``e dz/dparam`` ``[B]``. e is 1 for ``'sum'``, exp(z) for a bounded ``'lse'``, and else exp(z - S).
        """

    def merge(self, totals: Sequence[Tensor], references: Sequence[Tensor | None]) -> Tensor:
        """The statistic ``[B]`` from what :meth:`total` says of all chunks."""
        total = torch.stack(list(totals))
        if self.kind == 'sum':
            return total.sum(0)
        if self.bounded:
            return total.sum(0).log()
        return (torch.stack([r for r in references if r is not None]) + total.log()).logsumexp(0)


class Plain(Negatives):
    """z(v) = v, the scale being in the features already; needs no autograd.

    Args:
        bounded: see :class:`Negatives`.
    """

    def __init__(self, bounded: bool) -> None:
        self.bounded = bounded

    def total(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor]) -> tuple[Tensor, Tensor | None]:
        reference = None if self.bounded else v.amax(0)
        return chunk.put(v.exp() if reference is None else (v - reference).exp_(), 0.).sum(0), reference

    def slope(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor], S: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        return chunk.put(v.exp() if self.bounded else (v - S).exp_(), 0.), ()


class Differentiated(Negatives):
    """Any z or h, differentiated by autograd.

    Args:
        kind: ``'lse'`` or ``'sum'``.
        fn: z or h, of the similarities and the parameters.
        bounded: see :class:`Negatives`.
    """

    def __init__(self, kind: str, fn: Callable[..., Tensor], bounded: bool = False) -> None:
        self.kind, self.fn, self.bounded = kind, fn, bounded

    def total(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor]) -> tuple[Tensor, Tensor | None]:
        z = self.fn(v, *params)
        if self.kind == 'sum':
            return chunk.put(z.clone(), 0.).sum(0), None
        reference = None if self.bounded else z.amax(0)
        return chunk.put(z.exp() if reference is None else (z - reference).exp_(), 0.).sum(0), reference

    def slope(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor], S: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        v = v.detach().requires_grad_()
        params = [p.detach().requires_grad_(p.requires_grad) for p in params]
        with torch.enable_grad():
            z = self.fn(v, *params)
        e = torch.ones_like(z) if self.kind == 'sum' else (z.detach() if self.bounded else z.detach() - S).exp()
        wanted = [v, *(p for p in params if p.requires_grad)]
        # What does not depend on v, or is a step function of it, has no slope: autograd says None, or refuses the question.
        found = torch.autograd.grad(z, wanted, chunk.put(e, 0.), allow_unused=True) if z.requires_grad else [None] * len(wanted)
        slope, *param_slopes = [torch.zeros_like(w) if f is None else f for w, f in zip(wanted, found, strict=True)]
        return slope, param_slopes

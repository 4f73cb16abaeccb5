"""The elementwise half of a pass: what a chunk of similarities adds to the statistic of the negatives, and the slope of that."""
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from mmface.functional.softplus import softplus

from .class_chunks import Chunk


class Negatives(ABC):
    """A statistic ``S = sum_j f(z(v_j))`` of the negatives, or a function of such a sum, a chunk of classes at a time.

    Args:
        fn: z, of the similarities and the parameters; differentiated by autograd. None for ``z(v) = v``, which needs none.
    """

    def __init__(self, fn: Callable[..., Tensor] | None) -> None:
        self.fn = fn

    @abstractmethod
    def outer(self, z: Tensor) -> Tensor:
        """f(z) ``[k, B]``."""

    @abstractmethod
    def outer_slope(self, z: Tensor, S: Tensor | None) -> Tensor:
        """df/dz ``[k, B]``, which nothing else refers to; with ``S`` ``[B]`` for :class:`LogSum`, divided by exp(S)."""

    def row_factor(self, a: Tensor, S: Tensor) -> Tensor:
        """What dL/dS = a is multiplied by, of the row ``[B]``, to be the factor of slopes taken without S."""
        return a

    def merge(self, total: Tensor, again: Iterable[tuple[Chunk, Tensor]], params: Sequence[Tensor]) -> tuple[Tensor, bool]:
        """S ``[B]``, and whether all that it was made of kept within the range of the numbers.

        Args:
            total: the sum of :meth:`total` over all chunks.
            again: chunks and similarities once more, for who needs them.
            params: of z.
        """
        return total, True

    def total(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor]) -> Tensor:
        """The sum of f(z) over a chunk's negatives, ``[B]``.

        Args:
            v: similarities ``[k, B]``, where targets are hidden.
            chunk: knows where the targets are.
            params: of z.
        """
        return chunk.sum_of_negatives(self.outer(self.z(v, params)))

    def slope(self, v: Tensor, chunk: Chunk, params: Sequence[Tensor], S: Tensor | None) -> tuple[Tensor, Sequence[Tensor]]:
        """How the sum changes with a chunk's similarities.

        Args:
            v: similarities ``[k, B]``, where targets are hidden.
            chunk: knows where the targets are.
            params: of z.
            S: see :meth:`outer_slope`.

        Returns:
            ``e dz/dv`` ``[k, B]`` with e from :meth:`outer_slope`, 0 at the targets and free to be written to, and for each parameter that
            requires a gradient the sum over the chunk of ``e dz/dparam`` ``[B]``.
        """
        if self.fn is None:
            return chunk.put(self.outer_slope(v, S), 0.), ()
        v = v.detach().requires_grad_()
        params = [p.detach().requires_grad_(p.requires_grad) for p in params]
        with torch.enable_grad():
            z = self.fn(v, *params)
        e = chunk.put(self.outer_slope(z.detach(), S), 0.)
        wanted = [v, *(p for p in params if p.requires_grad)]
        # What does not depend on v, or is a step function of it, has no slope: autograd says None, or refuses the question.
        found = torch.autograd.grad(z, wanted, e, allow_unused=True) if z.requires_grad else [None] * len(wanted)
        slope, *param_slopes = [torch.zeros_like(w) if f is None else f for w, f in zip(wanted, found, strict=True)]
        return slope, param_slopes

    def z(self, v: Tensor, params: Sequence[Tensor]) -> Tensor:
        return v if self.fn is None else self.fn(v, *params)


class LogSum(Negatives):
    """``S = log sum_j exp(z_j)``."""

    def outer(self, z: Tensor) -> Tensor:
        return z.exp()

    def outer_slope(self, z: Tensor, S: Tensor | None) -> Tensor:
        return z.exp() if S is None else (z - S).exp_()

    def row_factor(self, a: Tensor, S: Tensor) -> Tensor:
        return a * (-S).exp()

    def merge(self, total: Tensor, again: Iterable[tuple[Chunk, Tensor]], params: Sequence[Tensor]) -> tuple[Tensor, bool]:
        # Between these no sum came near overflow, and none lost much to terms that are too small for its numbers.
        limits = torch.finfo(total.dtype)
        if ((total > limits.tiny**.7) & (total < limits.max**.9)).all():
            return total.log(), True
        logs = []
        for chunk, v in again:
            z = self.z(v, params)
            largest = z.amax(0)
            logs.append(largest + chunk.sum_of_negatives((z - largest).exp_()).log())
        return torch.stack(logs).logsumexp(0), False


class Sum(Negatives):
    """``S = sum_j z_j``."""

    def outer(self, z: Tensor) -> Tensor:
        return z

    def outer_slope(self, z: Tensor, S: Tensor | None) -> Tensor:
        return torch.ones_like(z)


class SumOfSoftplus(Negatives):
    """``S = sum_j log(1 + exp(z_j))``."""

    def outer(self, z: Tensor) -> Tensor:
        return softplus(z)

    def outer_slope(self, z: Tensor, S: Tensor | None) -> Tensor:
        return z.sigmoid()


#: By the ``form`` of a statistic.
FORMS: dict[str, type[Negatives]] = dict(lse=LogSum, sum=Sum, softplus=SumOfSoftplus)

"""What a loss may ask of the negatives: one number per row.

With similarities v_ij of row i to class j, the statistic over the negatives j != y_i is either ``S_i = log sum_j exp z(v_ij)`` (kind
``'lse'``) or ``S_i = sum_j h(v_ij)`` (kind ``'sum'``). A loss says what z or h is by returning one of these objects from ``prepare``; an
engine, which alone sees the B x C similarities, computes S and its gradients and never learns which loss asked.
"""
from collections.abc import Callable

from torch import Tensor

from mmface.functional.softplus import softplus


class LogSumExp:
    """``z(v) = scale * v``, or ``scale * clamp(v, -clamp, clamp)``: the statistic of every plain margin softmax.

    Args:
        scale: s > 0, a number or a tensor (a scalar or ``[B]``), which may require a gradient.
        clamp: bound on ``|v|``, outside of which the slope is 0; None for no bound.
    """
    kind = 'lse'

    def __init__(self, scale: Tensor | float, clamp: float | None = None) -> None:
        self.scale, self.clamp = scale, clamp

    def __call__(self, similarity: Tensor) -> Tensor:
        if self.clamp is not None:
            similarity = similarity.clamp(-self.clamp, self.clamp)
        return similarity * self.scale


class Elementwise:
    """``z(v) = fn(v, *params)`` for kind ``'lse'``, ``h(v) = fn(v, *params)`` for kind ``'sum'``.

    Args:
        kind: ``'lse'`` or ``'sum'``.
        fn: elementwise torch code of ``v`` and the parameters, differentiable, without state.
        params: numbers, scalars or ``[B]`` tensors, one entry a row; they may require a gradient. ``v`` comes with the rows in its last
            dimension, so that they broadcast.

    Attributes:
        form: how S is made of ``fn``, for an engine that has that by heart: the kind, or another name where a subclass does more.
    """

    def __init__(self, kind: str, fn: Callable[..., Tensor], *params: Tensor | float) -> None:
        if kind not in ('lse', 'sum'):
            raise ValueError(f"the kind of a statistic is 'lse' or 'sum', got {kind!r}")
        self.kind, self.form, self.fn, self.params = kind, kind, fn, params

    def __call__(self, similarity: Tensor) -> Tensor:
        return self.fn(similarity, *self.params)


class SoftplusSum(Elementwise):
    """``h(v) = log(1 + exp(fn(v, *params)))``: the negatives of a binary loss, one yes or no a class; of kind ``'sum'``.

    The same as an :class:`Elementwise` with a softplus in its ``fn``, whose slope an engine then has to work out; this one it knows.

    Args:
        fn, params: see :class:`Elementwise`.
    """

    def __init__(self, fn: Callable[..., Tensor], *params: Tensor | float) -> None:
        super().__init__('sum', fn, *params)
        self.form = 'softplus'

    def __call__(self, similarity: Tensor) -> Tensor:
        return softplus(super().__call__(similarity))


Statistic = LogSumExp | Elementwise

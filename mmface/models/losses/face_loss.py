"""The contract that every loss fulfils: two vectors in, one vector out."""
from collections.abc import Callable, Collection
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .statistics import Statistic


@dataclass
class Target:
    """What a loss is told about the B rows before anything is known of the negatives. All ``[B]``, differentiable, at least fp32.

    Attributes:
        similarity: v_i = <x_i, w_{y_i}> (plus the bias), of unit or raw vectors as the loss declares.
        feature_norm: the L2 norm of the raw embedding: the quality proxy.
        prototype_norm: the L2 norm of the raw prototype of class y_i.
        statistic: computes a :data:`Statistic` of the negatives detached, for the rare loss that needs one to choose its scale.
    """
    similarity: Tensor
    feature_norm: Tensor
    prototype_norm: Tensor
    statistic: Callable[[Statistic], Tensor]


class FaceLoss(nn.Module):
    """A loss on two vectors: the target similarity v and one statistic S of the negatives.

    A subclass sets ``features`` and ``prototypes`` (what v_ij is the product of), implements :meth:`prepare` (which statistic it needs) and
    :meth:`forward` (the loss per sample). It is ordinary autograd code on vectors of length B and knows neither ranks nor prototypes; the
    head and its engine do the rest. State, such as a running mean, is a buffer and moves in train mode only.

    Args:
        num_classes: the number of identities, filled in by the head: not that of the prototypes, a shard or a sample.

    Attributes:
        sum_over_batch: the sum of a tensor over the ranks among which the batch is spread, without gradient. Given by the head; the
            identity where the rows are the global batch already.
        rows_before: from the number of rows here to that of the rows of lower ranks: where these rows begin in the global batch. Given by
            the head; 0 where the rows are the global batch already.
    """
    features = 'unit'
    prototypes = 'unit'
    use_bias = False
    radius = 1.  #: the length of unit features; only L2-softmax changes it

    def __init__(self, num_classes: int | None = None) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.sum_over_batch: Callable[[Tensor], Tensor] = _identity
        self.rows_before: Callable[[int], int] = _none_before

    def prepare(self, t: Target) -> Statistic | None:
        """Returns the statistic of the negatives that :meth:`forward` needs, or None for none."""
        raise NotImplementedError

    def forward(self, t: Target, S: Tensor | None) -> Tensor:
        """Returns the loss per sample, ``[B]``, from the target and the statistic ``S`` ``[B]``."""
        raise NotImplementedError

    def mean_over_batch(self, values: Tensor) -> Tensor:
        """The detached mean of ``values`` ``[B]`` over the global batch; NaN for an empty one."""
        total = self.sum_over_batch(torch.stack([values.detach().sum(), values.new_tensor(float(len(values)))]))
        return total[0] / total[1]

    def rows_of_batch(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """The values of the global batch's rows ``[N, ...]``, detached, from those here ``[B, ...]``, and their places, int64 ``[B]``."""
        here = self.rows_before(len(values)) + torch.arange(len(values), device=values.device)
        count = int(self.sum_over_batch(torch.tensor(len(values), device=values.device)))
        return self.sum_over_batch(values.new_zeros(count, *values.shape[1:]).index_copy(0, here, values.detach())), here

    @torch.no_grad()
    def move(self, average: Tensor, value: Tensor, momentum: float) -> None:
        """Moves the buffer ``average`` towards the batch's ``value`` by the share ``momentum``.

        A value that is not finite leaves it: that of an empty batch, one sample's deviation, or that of a step whose features overflowed.
        """
        value = value.to(average)
        average.lerp_(torch.where(value.isfinite(), value, average), momentum)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> 'FaceLoss':
        """Follows ``.to`` and ``.double()`` but not ``.half()``: statistics and learned scales keep at least fp32."""

        def wide(tensor: Tensor) -> Tensor:
            out = fn(tensor)
            return tensor.to(out.device) if out.is_floating_point() and out.itemsize < 4 else out

        return super()._apply(wide, recurse)


def _identity(tensor: Tensor) -> Tensor:
    return tensor


def _none_before(_rows: int) -> int:
    return 0


def positive(loss: str, **values: float) -> None:
    """Raises a ValueError that names the first of ``values`` which is not greater than 0."""
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f'{loss}: {name} must be greater than 0, got {value}')


def one_of(loss: str, choices: Collection[str], **values: str) -> None:
    """Raises a ValueError that names the first of ``values`` which is not among ``choices``, and these."""
    for name, value in values.items():
        if value not in choices:
            raise ValueError(f'{loss}: {name} must be one of {sorted(choices)}, got {value!r}')


def known_classes(loss: str, num_classes: int | None, least: int = 1) -> int:
    """``num_classes``; raises a ValueError where it is None or less than ``least``."""
    if num_classes is None:
        raise ValueError(f'{loss} needs num_classes, which a head fills in; without a head, pass the number of identities')
    if num_classes < least:
        raise ValueError(f'{loss} needs at least {least} classes, got num_classes={num_classes}')
    return num_classes

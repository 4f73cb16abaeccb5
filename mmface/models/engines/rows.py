"""Which rows of a parameter a step reads, and what their gradient looks like: all of them and dense, or some and row-sparse."""
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Rows(Protocol):
    """The rows that take part, numbered from 0; a gradient has one value row for each."""

    def read(self, parameter: Tensor, rows: slice | Tensor) -> Tensor:
        """The rows ``rows`` of those that take part."""

    def numbers(self, parameter: Tensor, rows: slice | Tensor) -> Tensor:
        """Their numbers in the parameter, int64."""

    def count(self, parameter: Tensor) -> int:
        """How many take part."""

    def wrap(self, values: Tensor, parameter: Tensor) -> Tensor:
        """The gradient of ``parameter`` made of ``values``, a row for each that takes part; over the same memory."""

    def unwrap(self, gradient: Tensor) -> Tensor:
        """The values of what :meth:`wrap` made."""


class AllRows:
    """Every row takes part, and the gradient is as large as the parameter."""

    def read(self, parameter: Tensor, rows: slice | Tensor) -> Tensor:
        return parameter[rows]

    def numbers(self, parameter: Tensor, rows: slice | Tensor) -> Tensor:
        return rows if isinstance(rows, Tensor) else torch.arange(*rows.indices(len(parameter)), device=parameter.device)

    def count(self, parameter: Tensor) -> int:
        return len(parameter)

    def wrap(self, values: Tensor, parameter: Tensor) -> Tensor:
        return values

    def unwrap(self, gradient: Tensor) -> Tensor:
        return gradient


class DrawnRows:
    """The rows ``index``, int64, distinct and rising; the gradient is a coalesced sparse tensor of these alone."""

    def __init__(self, index: Tensor) -> None:
        self.index = index

    def read(self, parameter: Tensor, rows: slice | Tensor) -> Tensor:
        return parameter.index_select(0, self.index[rows])

    def numbers(self, parameter: Tensor, rows: slice | Tensor) -> Tensor:
        return self.index[rows]

    def count(self, parameter: Tensor) -> int:
        return len(self.index)

    def wrap(self, values: Tensor, parameter: Tensor) -> Tensor:
        return torch.sparse_coo_tensor(self.index.unsqueeze(0), values, parameter.shape, is_coalesced=True, check_invariants=False)

    def unwrap(self, gradient: Tensor) -> Tensor:
        return gradient._values()


class TakeRows(Function):
    """Rows of a parameter, and the parameter itself for a pass over all rows: one node, so that there is one gradient.

    Indexing would give the few rows a gradient as large as the parameter, zero almost everywhere, to be added to that of the pass. Here the
    gradient that comes back from the pass gets the few rows added in place.
    """

    @staticmethod
    def forward(ctx: Any, parameter: Tensor, rows: Rows, at: Tensor) -> tuple[Tensor, Tensor]:
        """``parameter`` ``[N, ...]`` and positions ``at`` int64 ``[M]`` among the rows that take part to ``[M, ...]`` and ``parameter``."""
        ctx.set_materialize_grads(False)
        ctx.rows = rows
        ctx.save_for_backward(parameter, at)
        return rows.read(parameter, at), parameter.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, few: Tensor | None, gradient: Tensor | None) -> tuple[Tensor, None, None]:
        parameter, at = ctx.saved_tensors
        rows = ctx.rows
        if gradient is None:
            gradient = rows.wrap(parameter.new_zeros(rows.count(parameter), *parameter.shape[1:]), parameter)
        if few is not None:
            rows.unwrap(gradient).index_add_(0, at, few)
        return gradient, None, None

"""Differentiable collectives."""
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from .collectives import gathered, maximum_over_ranks, sum_of_own_rows, sum_over_ranks, world_size


class CollectiveChain:
    """The differentiable collectives of one step, all of which every rank takes part in, forwards and backwards, in the same order.

    Gradients are those of the sum over ranks of what the ranks differentiate: each collective's backward pass is its exact adjoint. Ranks
    that all compute the same loss from what they exchanged therefore differentiate a W-th of it each, see :meth:`shared`.

    A rank without classes, or without targets, lacks parts of the graph that others have. Each collective hands a token to the next one, so
    that autograd, wherever it enters the chain, goes back through all of it.

    Args:
        device: of the tensors that are exchanged.
    """

    def __init__(self, device: torch.device) -> None:
        self._token = torch.zeros((), device=device, requires_grad=True)

    def gather(self, rows: Tensor, dtype: torch.dtype) -> Tensor:
        """The rows ``[B, ...]`` of all ranks, ``[W * B, ...]`` in ``dtype``; they travel in their own.

        Either all ranks' rows require a gradient or none. The gradient is multiplied by W: DistributedDataParallel, which sees to the
        backbone behind them, divides by it.
        """
        return self._link(_Gather, rows, dtype)[0]

    def sum(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The sums over ranks of tensors of the same shape."""
        return self._link(_Sum, *tensors)

    def logsumexp(self, tensor: Tensor) -> Tensor:
        """``log sum_ranks exp(tensor)``; -inf where it is -inf on all ranks, which then has no gradient."""
        return self._link(_LogSumExp, tensor)[0]

    def parameters(self, *parameters: Tensor) -> tuple[Tensor, ...]:
        """Stand-ins for parameters of which every rank has a copy: these then all get the whole gradient."""
        return self._link(_SumOfGradients, *parameters) if parameters else ()

    @staticmethod
    def shared(tensor: Tensor) -> Tensor:
        """A tensor that all ranks have computed alike: each of them differentiates a W-th of it."""
        ranks = world_size()
        if tensor.requires_grad and ranks > 1:
            tensor.register_hook(lambda gradient: gradient / ranks)
        return tensor

    def _link(self, collective: type[Function], *args: Any) -> tuple[Tensor, ...]:
        token, *outputs = collective.apply(self._token, *args)
        if torch.is_grad_enabled():
            self._token = token
        return tuple(outputs)


class _Gather(Function):

    @staticmethod
    def forward(ctx: Any, token: Tensor, rows: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        ctx.dtype, everyones = rows.dtype, gathered(rows).to(dtype)
        if not ctx.needs_input_grad[1]:
            ctx.mark_non_differentiable(everyones)
        return token.clone(), everyones

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _token: Tensor, gradient: Tensor) -> tuple[None, Tensor | None, None]:
        if not ctx.needs_input_grad[1]:
            return None, None, None
        return None, (sum_of_own_rows(gradient) * world_size()).to(ctx.dtype), None


class _Sum(Function):

    @staticmethod
    def forward(_ctx: Any, token: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        return token.clone(), *sum_over_ranks(torch.stack(tensors))

    @staticmethod
    @once_differentiable
    def backward(_ctx: Any, _token: Tensor, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return None, *sum_over_ranks(torch.stack(gradients))


class _LogSumExp(Function):

    @staticmethod
    def forward(ctx: Any, token: Tensor, tensor: Tensor) -> tuple[Tensor, Tensor]:
        peak = maximum_over_ranks(tensor)
        peak = peak.masked_fill(~peak.isfinite(), 0.)
        total = sum_over_ranks((tensor - peak).exp()).log() + peak
        ctx.save_for_backward(tensor, total)
        return token.clone(), total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _token: Tensor, gradient: Tensor) -> tuple[None, Tensor]:
        tensor, total = ctx.saved_tensors
        return None, sum_over_ranks(gradient) * (tensor - total.masked_fill(total.isneginf(), torch.inf)).exp()


class _SumOfGradients(Function):

    @staticmethod
    def forward(_ctx: Any, token: Tensor, *parameters: Tensor) -> tuple[Tensor, ...]:
        return token.clone(), *(p.detach().clone() for p in parameters)

    @staticmethod
    @once_differentiable
    def backward(_ctx: Any, _token: Tensor, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return None, *(sum_over_ranks(gradient) for gradient in gradients)

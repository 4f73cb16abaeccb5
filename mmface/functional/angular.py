"""Angles and cosines whose gradients stay finite where calculus says infinity.

The derivative of acos is infinite at cosine +1 and -1, where a trained target and a copied prototype really are. Every function here takes
its cosine through :func:`inner_cosine` first, which keeps it one rounding step inside the interval: values change by less than the cosine's
own precision, and the gradient at the ends is zero.
"""
import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function


def inner_cosine(cosine: Tensor) -> Tensor:
    """Clamps to ``[-1 + eps, 1 - eps]``, eps the machine epsilon of the dtype; the gradient outside is 0."""
    bound = 1 - torch.finfo(cosine.dtype).eps
    return F.hardtanh(cosine, -bound, bound)  # clamp, with a backward pass several times as fast


def cos_plus(cosine: Tensor, margin: Tensor | float) -> Tensor:
    """cos(theta + margin) from cos(theta), theta in [0, pi]; ``margin`` in radians, a number or broadcastable.

    The addition theorem rather than acos and cos: as exact, and it needs no inverse function.
    """
    cosine = inner_cosine(cosine)
    margin = torch.as_tensor(margin, dtype=cosine.dtype, device=cosine.device)
    return cosine * margin.cos() - (1 - cosine * cosine).sqrt() * margin.sin()


def cos_plus_monotone(cosine: Tensor, margin: Tensor | float) -> Tensor:
    """cos(theta + margin) up to theta = pi - margin, beyond it cos(theta) - margin sin(margin).

    Falls with the angle everywhere, with a jump at pi - margin (of -0.117 for a margin of 0.5).
    """
    margin = torch.as_tensor(margin, dtype=cosine.dtype, device=cosine.device)
    return torch.where(cosine > -margin.cos(), cos_plus(cosine, margin), cosine - margin * margin.sin())


def cos_plus_easy(cosine: Tensor, margin: Tensor | float) -> Tensor:
    """cos(theta + margin) below 90 degrees, cos(theta) from there on."""
    return torch.where(cosine > 0, cos_plus(cosine, margin), cosine)


def angle(cosine: Tensor) -> Tensor:
    """The angle acos(cosine) in radians, with a finite gradient everywhere."""
    return inner_cosine(cosine).acos()


def cos_times(cosine: Tensor, factor: float) -> Tensor:
    """cos(factor theta), continued to fall over all of [0, pi]: ``(-1)^k cos(factor theta) - 2 k``, k = floor(factor theta / pi)."""
    scaled = factor * angle(cosine)
    k = (scaled / math.pi).floor()
    return (1 - 2 * (k % 2)) * scaled.cos() - 2 * k


class _StraightThrough(Function):

    @staticmethod
    def forward(_ctx: Any, value: Tensor, _of: Tensor) -> Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, gradient


def straight_through(value: Tensor, of: Tensor) -> Tensor:
    """``value`` in the forward pass, the slope of ``of`` in the backward pass (a detached margin)."""
    return _StraightThrough.apply(value.detach(), of)


def exceeds(value: Tensor, threshold: Tensor) -> Tensor:
    """1 where ``value > threshold``, else 0, in the dtype of ``value`` and without a gradient.

    To multiply by this takes a fraction of the time of ``torch.where``, and has a cheaper backward pass.
    """
    return torch.gt(value.detach(), threshold.detach(), out=torch.empty_like(value, requires_grad=False))

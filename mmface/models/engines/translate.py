"""What a loss asked for, in the terms of a pass over the classes."""
from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor

from ..losses.statistics import Elementwise, LogSumExp, Statistic
from .negatives import FORMS, LogSum, Negatives


class Task(NamedTuple):
    """What :class:`~mmface.models.engines.class_pass.ClassPass` is called with: features ``[B, D]`` and bias ``[C]`` include the scale."""
    negatives: Negatives
    features: Tensor
    bias: Tensor | None
    params: list[Tensor]


def translate(spec: Statistic, features: Tensor, bias: Tensor | None) -> Task:
    """Multiplies a scale into the features where possible: there it costs B x D products, and autograd differentiates it.

    Args:
        spec: what the loss asked for.
        features: ``[B, D]``.
        bias: ``[C]`` or None.
    """
    if isinstance(spec, Elementwise):
        return _general(spec, features, bias)
    scale, clamp = spec.scale, spec.clamp
    if not isinstance(scale, Tensor):
        fn = None if clamp is None else _clamp(scale * clamp)
        return Task(LogSum(fn), features * scale, None if bias is None else bias * scale, [])
    if clamp is None and bias is None:
        return Task(LogSum(None), features * (scale.unsqueeze(1) if scale.ndim else scale), None, [])
    return _general(Elementwise('lse', lambda v, s: LogSumExp(s, clamp)(v), scale), features, bias)


def _general(spec: Elementwise, features: Tensor, bias: Tensor | None) -> Task:
    """Parameters become one a row, so that a row's slope is not lost in their sum; numbers stay with the function."""

    def fn(v: Tensor, *tensors: Tensor) -> Tensor:
        rest = iter(tensors)
        return spec.fn(v, *(next(rest) if isinstance(p, Tensor) else p for p in spec.params))

    params = [p for p in spec.params if isinstance(p, Tensor)]
    return Task(FORMS[spec.form](fn), features, bias, [p.expand(len(features)) if p.requires_grad else p for p in params])


def _clamp(bound: float) -> Callable[[Tensor], Tensor]:
    return lambda z: F.hardtanh(z, -bound, bound)  # clamp, with a backward pass several times as fast

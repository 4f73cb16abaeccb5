"""One pass over the classes, forward and backward, of which one B x C array survives, or none."""
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from mmface.functional.unit import ZERO_NORM

from .class_chunks import Chunk
from .plan import Plan


class ClassPass(Function):
    """The negatives' statistic S ``[B]`` of similarities ``v_ij = <x_i, w_j> / |w_j| + b_j`` (the norm only where the plan says so).

    With a_i = dL/dS_i the gradient in v_ij is ``a_i exp(z_ij - S_i) dz/dv`` for kind ``'lse'`` and ``a_i f'(z_ij) dz/dv`` for sums of f(z):
    a factor of the row times what :mod:`~mmface.models.engines.negatives` calls the slope. That factor moves onto the small operands of the
    products. Prototypes are never normalised into a copy: products are divided by their norms. The Jacobian of the normalisation takes the
    part along w_j out of a gradient, ``dW_j = G_j - w_j <w_j, G_j> / |w_j|^2``; similarities and slopes know that part before G_j is
    computed.

    Cosines times a usual scale can be exponentiated as they are; only where sums then leave the range of their numbers are they formed once
    more, with the largest term of each chunk divided out.

    The forward pass stores the similarities where memory allows; otherwise the backward pass computes them again.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, plan: Plan, *params: Tensor) -> Tensor:
        """The statistic.

        Args:
            ctx: autograd's.
            features: ``[B, D]``.
            weight: the parameter of which the plan's rows take part, ``[..., D]``.
            bias: ``[C]``, of the classes that take part, or None.
            plan: how to go about it.
            params: parameters of z; those that require a gradient are ``[B]``.

        Returns:
            S ``[B]``.
        """
        ctx.set_materialize_grads(False)
        kept = center_kept = None
        if plan.store is not None:
            kept = plan.store.take((plan.num_classes, len(features)), features)
            center_kept = None if plan.num_centers == 1 else torch.empty(kept.shape, dtype=torch.int16, device=kept.device)
        inverse = features.new_empty(plan.num_classes * plan.num_centers, 1) if plan.unit else None

        total = features.new_zeros(len(features))
        for chunk in plan.chunks:
            prototypes, place = plan.prototypes(weight, chunk), _part(kept, chunk.classes)
            norm = None if inverse is None else _inverse_norms(prototypes, out=inverse[chunk.rows])
            v, center = plan.similarities(prototypes, norm, features, _part(bias, chunk.classes), out=place)
            if center_kept is not None and place is not None and center is not None:
                v, center_kept[chunk.classes] = place.copy_(v), center
            total += plan.negatives.total(chunk.hide(v), chunk, params)

        done = _Pass(plan, features, weight, bias, inverse, kept, center_kept)
        S, ctx.in_range = plan.negatives.merge(total, ((chunk, v) for chunk, _, v, _ in done.chunks()), params)
        ctx.plan = plan
        ctx.save_for_backward(features, weight, bias, inverse, kept, center_kept, S, *params)
        return S

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, a: Tensor | None) -> tuple[Tensor | None, ...]:
        needed = ctx.needs_input_grad
        if a is None:
            return (None, ) * len(needed)
        *tensors, S = ctx.saved_tensors[:7]
        with torch.autocast(a.device.type, enabled=False):
            dx, dw, db, dparams = _gradients(_Pass(ctx.plan, *tensors), needed, a, S, ctx.in_range, ctx.saved_tensors[7:])
        rest = iter(dparams)
        return dx, dw, db, None, *(next(rest) if n else None for n in needed[4:])


@dataclass
class _Pass:
    """What the forward pass leaves to the backward pass; see there."""
    plan: Plan
    features: Tensor
    weight: Tensor
    bias: Tensor | None
    inverse: Tensor | None
    kept: Tensor | None
    center_kept: Tensor | None

    def chunks(self) -> Iterator[tuple[Chunk, Tensor, Tensor, Tensor | None]]:
        """The chunks once more, each with its prototypes, similarities ``[k, B]`` with hidden targets, and the centres these are of."""
        for chunk in self.plan.chunks:
            prototypes = self.plan.prototypes(self.weight, chunk)
            if self.kept is None:
                v, center = self.plan.similarities(prototypes, _part(self.inverse, chunk.rows), self.features,
                                                   _part(self.bias, chunk.classes))
                chunk.hide(v)
            else:
                v, center = self.kept[chunk.classes], _part(self.center_kept, chunk.classes)
            yield chunk, prototypes, v, center


def _gradients(done: _Pass, needed: Sequence[bool], a: Tensor, S: Tensor, in_range: bool,
               params: Sequence[Tensor]) -> tuple[Tensor | None, Tensor | None, Tensor | None, list[Tensor]]:
    """The gradients in features, weight, bias and the parameters that need one, from ``a = dL/dS``."""
    plan, features, weight, bias = done.plan, done.features, done.weight, done.bias
    S = S.masked_fill(S.isneginf(), torch.inf)  # a row without negatives: exp(z - S) has to be 0
    plain = in_range and plan.products.dtype is None
    row_factor = (plan.negatives.row_factor(a, S) if plain else a).unsqueeze(1)
    scaled = features * row_factor
    dx = torch.zeros_like(features) if needed[0] else None
    values = plan.gradient.take((plan.rows.count(weight), weight.shape[1]), weight) if needed[1] else None
    db = torch.empty_like(bias) if bias is not None and needed[2] else None

    all_param_slopes = []
    for chunk, prototypes, v, center in done.chunks():
        slope, param_slopes = plan.negatives.slope(v, chunk, params, None if plain else S)
        all_param_slopes.append(param_slopes)
        if db is not None:
            torch.mm(slope, row_factor, out=db[chunk.classes].unsqueeze(1))
        norm, along = _part(done.inverse, chunk.rows), None  # along: <w_j, G_j> / |w_j|^2
        if norm is not None and values is not None:
            product = slope * (v if bias is None else v - bias[chunk.classes].unsqueeze(1))
            along = plan.spread(product, center) @ row_factor * norm.square()
            del product
        slope = plan.spread(slope, center)
        if norm is not None:
            slope.mul_(norm)
        if dx is not None:
            plan.products.add(dx, slope.t(), prototypes)
        if values is not None:
            G = values[chunk.rows]
            if along is None:
                plan.products(slope, scaled, out=G)
            else:
                plan.products.add(torch.mul(prototypes, along.neg_(), out=G), slope, scaled)
            plan.through_mix(weight, chunk, G)

    dx = None if dx is None else dx.mul_(row_factor)
    dparams = [torch.stack(slopes).sum(0) * row_factor.squeeze(1) for slopes in zip(*all_param_slopes, strict=True)]
    return dx, None if values is None else plan.rows.wrap(values, weight), db, dparams


def _part(whole: Tensor | None, part: slice) -> Tensor | None:
    return None if whole is None else whole[part]


def _inverse_norms(prototypes: Tensor, out: Tensor) -> Tensor:
    """``1 / |w_j|`` of ``[k, D]`` into ``out`` ``[k, 1]``; 0 for a prototype without direction."""
    torch.linalg.vector_norm(prototypes, dim=1, keepdim=True, out=out)
    return out.masked_fill_(out <= ZERO_NORM, torch.inf).reciprocal_()

"""The norm of a gradient of which every rank has a part."""
from collections.abc import Collection, Iterable

import torch
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from mmface.functional.collectives import maximum_over_ranks, sum_over_ranks


@torch.no_grad()
def clip_norm(parameters: Iterable[Tensor],
              sharded: Collection[Tensor],
              max_norm: float,
              norm_type: float = 2.,
              error_if_nonfinite: bool = False,
              foreach: bool | None = None) -> Tensor:
    """:func:`torch.nn.utils.clip_grad_norm_` of a model some of whose parameters are spread over the ranks: every rank clips alike.

    Args:
        parameters: of the model, with gradients or without; at least one.
        sharded: those of which every rank has its own part.
        max_norm: as there.
        norm_type: as there.
        error_if_nonfinite: as there.
        foreach: as there.

    Returns:
        The norm of the whole model's gradient, the same on every rank.
    """
    parameters, norm_type = list(parameters), float(norm_type)
    device = parameters[0].device
    learning = [p for p in parameters if p.grad is not None and p.grad.numel()]  # an empty shard has no largest entry

    common = get_total_norm([p.grad for p in learning if p not in sharded], norm_type, foreach=foreach)
    own = get_total_norm([p.grad for p in learning if p in sharded], norm_type, foreach=foreach)
    dtype = torch.promote_types(common.dtype, own.dtype)
    common, own = (norm.to(device, torch.float64) for norm in (common, own))
    if sharded:
        own = maximum_over_ranks(own) if norm_type == torch.inf else sum_over_ranks(own**norm_type)**(1 / norm_type)
    total = torch.linalg.vector_norm(torch.stack([common, own]), norm_type).to(dtype)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(f'the norm of the gradients is {float(total)}, so they cannot be clipped')
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total

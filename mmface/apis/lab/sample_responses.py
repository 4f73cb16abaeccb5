"""What a head's loss makes of single samples, by autograd from the loss itself."""
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mmface.models import FaceClsHead
from mmface.models.losses.softmax_form import is_softmax

_ROWS = 64  # at a time: C numbers each


class SampleResponses(NamedTuple):
    """Of N samples, float64 ``[N]``.

    Attributes:
        norm: of the feature.
        angle: to the own prototype (with several centres, the closest), degrees.
        scaling: dL/dcos of the target, the gradient scaling term g of AdaFace (Eq. 12).
        probability: P of the own class, from dL/dS = P - 1; NaN where the loss is no softmax.
    """
    norm: np.ndarray
    angle: np.ndarray
    scaling: np.ndarray
    probability: np.ndarray


def ask_head(head: FaceClsHead, embeddings: Tensor, labels: Tensor) -> SampleResponses:
    """Asks the loss of a head, with its prototypes and state as they are, in evaluation mode and in float64; all classes count.

    Args:
        head: with a ``DenseEngine``; an engine that samples classes would leave negatives out. Left in evaluation mode and float64.
        embeddings: ``[N, D]``, not normalised.
        labels: int64 ``[N]`` in [0, C).

    Raises:
        ValueError: for a head whose loss is asked about more than the embedding, and for embeddings that are not finite.
    """
    if head.needs_feature_map:
        raise ValueError(f"{type(head).__name__} judges feature maps: its loss says nothing about a sample's embedding alone")
    if bad := int((~embeddings.isfinite().all(1)).sum()):
        raise ValueError(f'{bad} of {len(embeddings)} embeddings are not finite: has the training broken down?')
    head.double().eval()
    softmax = is_softmax(head.loss_module)
    parts = [_ask(head, *rows, softmax) for rows in zip(embeddings.double().split(_ROWS), labels.split(_ROWS), strict=True)]
    return SampleResponses(*(torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True)))


def _ask(head: FaceClsHead, embeddings: Tensor, labels: Tensor, softmax: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    seen: list[tuple] = []
    handle = head.loss_module.register_forward_hook(lambda _, inputs, losses: seen.append((*inputs, losses)))
    try:
        head.compute_loss(embeddings.detach().requires_grad_(), labels, reduction='none')
    finally:
        handle.remove()
    t, S, losses = seen[0]  # a head may ask again about what it remembers
    loss = head.loss_module
    length = loss.radius if loss.features == 'unit' else t.feature_norm.detach()
    length = length * (torch.ones_like(t.prototype_norm) if loss.prototypes == 'unit' else t.prototype_norm).detach()
    bias = 0. if head.bias is None else head.bias.detach()[labels]
    cosine = (t.similarity.detach() - bias) / length.clamp_min(torch.finfo(length.dtype).tiny)
    pull, = torch.autograd.grad(losses.sum(), t.similarity, retain_graph=True)
    probability = 1 - torch.autograd.grad(losses.sum(), S)[0] if softmax else torch.full_like(pull, torch.nan)
    return t.feature_norm.detach(), cosine.clamp(-1, 1).acos().rad2deg(), pull * length, probability

"""What one image costs a backbone."""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from mmface.registry import MODELS
from mmface.zoo.checker.complexity import complexity

#: Images of the two batches that are looked at; batch norm over vectors needs more than one.
IMAGES = 2, 3


@dataclass(frozen=True)
class BackboneCost:
    """Of backbone and neck together, in bytes.

    Attributes:
        weights: parameters and buffers.
        gradients: of the parameters that are trained.
        copies: of weights in the numbers of automatic mixed precision.
        activations: what is kept of one image for the backward pass.
        working_set: of one image, what a layer's backward pass has at hand besides: the largest activation, and its gradient.
        flops: of one image, forward, two a multiply-add; the backward pass takes twice as many.
        dtype: of the embeddings.
    """
    weights: int
    gradients: int
    copies: int
    activations: int
    working_set: int
    flops: int
    dtype: torch.dtype


def measure_backbone(model: Mapping[str, Any], dtype: torch.dtype | None) -> BackboneCost:
    """Builds backbone and neck of a :class:`~mmface.models.FaceRecognizer` and sends a few images through them, on the CPU.

    Args:
        model: the recognizer's config.
        dtype: of automatic mixed precision, or None.
    """
    network: Any = MODELS.build({**model, 'head': None}).train()
    few, _ = _kept(network, IMAGES[0], dtype)
    more, embedding_dtype = _kept(network, IMAGES[1], dtype)
    activations = (sum(more) - sum(few)) // (IMAGES[1] - IMAGES[0])
    return BackboneCost(
        weights=_size((*network.parameters(), *network.buffers())),
        gradients=_size(p for p in network.parameters() if p.requires_grad),
        copies=max(0, sum(few) - IMAGES[0] * activations),
        activations=activations,
        working_set=2 * (max(more, default=0) - max(few, default=0)),
        flops=2 * complexity(model).flops,
        dtype=embedding_dtype)


def _kept(network: Any, images: int, dtype: torch.dtype | None) -> tuple[list[int], torch.dtype]:
    """Sizes of what a forward pass keeps for the backward pass, parameters and buffers apart, and the type of the embeddings."""
    own = {tensor.untyped_storage().data_ptr() for tensor in (*network.parameters(), *network.buffers())}
    sizes: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    height, width = network.data_preprocessor.size or (112, 112)
    with saved_tensors_hooks(pack, lambda tensor: tensor), torch.autocast('cpu', dtype=dtype, enabled=dtype is not None):
        embeddings = network.extract_feat(torch.rand(images, 3, height, width))
    return list(sizes.values()), embeddings.dtype  # the embeddings have kept alive what is counted


def _size(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)

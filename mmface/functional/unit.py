"""Normalisation to the unit sphere that survives a zero vector."""
import torch
from torch import Tensor

#: Vectors shorter than this count as zero: they have no direction.
ZERO_NORM = 1e-12


def unit(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """L2-normalises rows.

    Args:
        vectors: ``[N, D]``, at least fp32 (a sum of squares overflows in fp16 from 256 on).

    Returns:
        The unit rows ``[N, D]`` and the norms ``[N]``, both differentiable. A row shorter than :data:`ZERO_NORM` gives the zero vector, and
        no gradient through it: :func:`torch.nn.functional.normalize` would give one of 1e12.
    """
    norm = torch.linalg.vector_norm(vectors, dim=1)
    alive = norm > ZERO_NORM
    inverse = torch.where(alive, norm, 1.).reciprocal() * alive
    return vectors * inverse.unsqueeze(1), norm

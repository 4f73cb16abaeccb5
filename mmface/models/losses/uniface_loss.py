"""UniFace (Zhou et al., ICCV 2023): one threshold for all positive and all negative pairs, learned in the loss."""
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, known_classes, positive
from .statistics import SoftplusSum


def _negative(cosine: Tensor, bias: Tensor, s: float) -> Tensor:
    return F.hardtanh(torch.add(-bias, cosine, alpha=s), -s, s)


@MODELS.register_module()
class UniFaceLoss(FaceLoss):
    """``softplus(-(s (cos - m) - b)) + l sum_j softplus(s cos_j - b)``, both arguments clamped to [-s, s].

    Args:
        s: the scale, > 0.
        m: the cosine margin of the target.
        l: weight of the negatives, > 0.
        r: the share of negatives that take part, in (0, 1]; only b's start depends on it: the engine does the sampling.

    Attributes:
        bias: scalar parameter b, ``log(10 r C)`` at first: b / s is the threshold. Not for weight decay.
    """

    def __init__(self,
                 s: float = 64.,
                 m: float = .4,
                 l: float = 1.,  # noqa: E741  (the paper's symbol)
                 r: float = 1.,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        classes = known_classes('UniFaceLoss', num_classes)
        positive('UniFaceLoss', s=s, l=l, r=r)
        if r > 1:
            raise ValueError(f'UniFaceLoss: r is a share of the negatives, in (0, 1], got {r}')
        self.s, self.m, self.l = s, m, l
        self.bias = nn.Parameter(torch.tensor(math.log(10 * r * classes)))

    def prepare(self, t: Target) -> SoftplusSum:
        return SoftplusSum(_negative, self.bias, self.s)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus((self.bias - self.s * (t.similarity - self.m)).clamp(-self.s, self.s)) + self.l * S

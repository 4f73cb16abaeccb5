"""CurricularFace (Huang et al., CVPR 2020): hard negatives count little at first and more as training proceeds."""
import torch
from torch import Tensor

from mmface.functional.angular import cos_plus, cos_plus_monotone, exceeds
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import Elementwise


def _modulated(cosine: Tensor, s: float, t: Tensor, threshold: Tensor) -> Tensor:
    return s * torch.addcmul(cosine, exceeds(cosine, threshold), cosine * (cosine + (t - 1)))


@MODELS.register_module()
class CurricularFaceLoss(FaceLoss):
    """Target logit ``s cos(theta + m)``; a negative with ``cos_j > cos(theta + m)`` gets ``s cos_j (t + cos_j)``, the others ``s cos_j``.

    Args:
        s: the scale, > 0.
        m: the angular margin in radians; beyond pi - m the target is cos - m sin m, while the threshold stays cos(theta + m).
        momentum: weight of the new batch in t, in (0, 1].

    Attributes:
        t: buffer, the running mean of the target cosine over the global batch, 0 at first; updated before use, in train mode.
    """
    t: Tensor

    def __init__(self, s: float = 64., m: float = .5, momentum: float = .01, num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('CurricularFaceLoss', s=s, momentum=momentum)
        if momentum > 1:
            raise ValueError(f'CurricularFaceLoss: momentum is the weight of the new batch, in (0, 1], got {momentum}')
        self.s, self.m, self.momentum = s, m, momentum
        self.register_buffer('t', torch.tensor(0.))

    def prepare(self, t: Target) -> Elementwise:
        cosine = t.similarity.detach()
        if self.training:
            self.move(self.t, self.mean_over_batch(cosine), self.momentum)
        return Elementwise('lse', _modulated, self.s, self.t.clone(), cos_plus(cosine, self.m))

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus(S - self.s * cos_plus_monotone(t.similarity, self.m))

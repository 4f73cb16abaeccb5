"""MV-Softmax (Wang et al., AAAI 2020): misclassified negatives are pushed harder."""
import torch
from torch import Tensor

from mmface.functional.angular import cos_plus, cos_plus_easy, exceeds
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, one_of, positive
from .statistics import Elementwise


def _reweighted(cosine: Tensor, s: float, w: float, threshold: Tensor) -> Tensor:
    return s * torch.addcmul(cosine, exceeds(cosine, threshold), cosine + 1, value=w - 1)


@MODELS.register_module()
class MVSoftmaxLoss(FaceLoss):
    """A negative above the target's score with margin gets ``s (w cos_j + w - 1)`` instead of ``s cos_j``.

    Args:
        s: the scale, > 0.
        m: the margin, in cosine for ``'am'``, in radians for ``'arc'``.
        w: the weight of the misclassified, >= 1: the paper's t + 1.
        kind: ``'am'``: target ``s (cos - m)`` while cos > m, else ``s cos``; ``'arc'``: ``s cos(theta + m)`` below 90 degrees, else
            ``s cos``.
    """

    def __init__(self, s: float = 32., m: float = .35, w: float = 1.12, kind: str = 'am', num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('MVSoftmaxLoss', s=s)
        one_of('MVSoftmaxLoss', ('am', 'arc'), kind=kind)
        if w < 1:
            raise ValueError(f'MVSoftmaxLoss: w must be at least 1, got {w}')
        self.s, self.m, self.w, self.kind = s, m, w, kind

    def prepare(self, t: Target) -> Elementwise:
        cosine = t.similarity.detach()
        return Elementwise('lse', _reweighted, self.s, self.w, cosine - self.m if self.kind == 'am' else cos_plus(cosine, self.m))

    def forward(self, t: Target, S: Tensor) -> Tensor:
        cosine = t.similarity
        with_margin = torch.where(cosine > self.m, cosine - self.m, cosine) if self.kind == 'am' else cos_plus_easy(cosine, self.m)
        return softplus(S - self.s * with_margin)

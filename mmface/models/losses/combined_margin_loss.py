"""The combined margin of the ArcFace paper (Deng et al., CVPR 2019): SphereFace's, ArcFace's and CosFace's in one formula."""
from torch import Tensor

from mmface.functional.angular import angle, straight_through
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp


@MODELS.register_module()
class CombinedMarginLoss(FaceLoss):
    """Target logit ``s (cos(m1 theta + m2) - m3)``; nothing special is done where the angle exceeds pi.

    Args:
        s: the scale, > 0.
        m1: the factor of the angle, > 0.
        m2: the addition to the angle in radians.
        m3: the subtraction from the cosine. The paper's ablation also has (m1, m2, m3) = (0.9, 0.4, 0.15).
        detach_margin: the margin moves the value but not the slope.
    """

    def __init__(self,
                 s: float = 64.,
                 m1: float = 1.,
                 m2: float = .3,
                 m3: float = .2,
                 detach_margin: bool = False,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('CombinedMarginLoss', s=s, m1=m1)
        self.s, self.m1, self.m2, self.m3, self.detach_margin = s, m1, m2, m3, detach_margin

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.s)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        cosine = (self.m1 * angle(t.similarity) + self.m2).cos() - self.m3
        if self.detach_margin:
            cosine = straight_through(cosine, of=t.similarity)
        return softplus(S - self.s * cosine)

"""CosFace (Wang et al., CVPR 2018) and AM-Softmax (Wang et al., SPL 2018), which are one loss."""
from torch import Tensor

from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp


@MODELS.register_module()
class CosFaceLoss(FaceLoss):
    """Target logit ``s (cos theta - m)``.

    Args:
        s: the scale, > 0 (CosFace 64, AM-Softmax 30).
        m: the additive cosine margin. CosFace's paper and AM-Softmax use 0.35; insightface's configs 0.4.
    """

    def __init__(self, s: float = 64., m: float = .35, num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('CosFaceLoss', s=s)
        self.s, self.m = s, m

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.s)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus(S - self.s * (t.similarity - self.m))

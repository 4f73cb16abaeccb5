"""COCO (Liu, Li & Wang, 2017), second version: softmax over cosines to learned centres."""
from torch import Tensor

from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp


@MODELS.register_module()
class COCOLoss(FaceLoss):
    """``-log softmax(alpha cos)``: NormFace with a fixed scale.

    Args:
        alpha: the scale, > 0 (6.25 on MNIST; 30 is usual for faces).
    """

    def __init__(self, alpha: float = 6.25, num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('COCOLoss', alpha=alpha)
        self.alpha = alpha

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.alpha)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus(S - self.alpha * t.similarity)

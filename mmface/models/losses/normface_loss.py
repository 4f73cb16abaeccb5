"""NormFace (Wang et al., ACM MM 2017): softmax over scaled cosines, no margin."""
import torch
from torch import Tensor, nn

from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp


@MODELS.register_module()
class NormFaceLoss(FaceLoss):
    """``-log softmax(s cos)``.

    Args:
        s: the scale, > 0.
        learn_scale: whether s is a parameter, started at ``s`` (the authors' prototxt learns it, with a floor of 0.01 on the scale in use).
    """

    def __init__(self, s: float = 30., learn_scale: bool = False, num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('NormFaceLoss', s=s)
        self.s = nn.Parameter(torch.tensor(float(s))) if learn_scale else float(s)

    def _scale(self) -> Tensor | float:
        return self.s.clamp_min(0.01) if isinstance(self.s, Tensor) else self.s

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self._scale())

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus(S - self._scale() * t.similarity)

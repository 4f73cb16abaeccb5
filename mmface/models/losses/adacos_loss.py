"""AdaCos (Zhang et al., CVPR 2019): a cosine softmax that chooses its scale itself."""
import math

import torch
from torch import Tensor

from mmface.functional.angular import angle
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, known_classes
from .statistics import LogSumExp


@MODELS.register_module()
class AdaCosLoss(FaceLoss):
    """``-log softmax(s cos)``, where s starts at ``sqrt(2) log(C - 1)`` and follows the batch.

    In train mode, before use, ``s <- log(B_avg) / cos(min(pi / 4, theta_med))``: B_avg is the mean over the batch of the negatives' summed
    ``exp(s cos)``, at the old s, and theta_med the median angle to the own prototype, the lower one of two middle angles.

    Args:
        dynamic: whether s follows the batch; otherwise it stays at its first value (the paper's fixed AdaCos).

    Attributes:
        s: buffer, the scale.
    """
    s: Tensor

    def __init__(self, dynamic: bool = True, num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        classes = known_classes('AdaCosLoss', num_classes, least=3)
        self.dynamic = dynamic
        self.register_buffer('s', torch.tensor(math.sqrt(2) * math.log(classes - 1)))

    def prepare(self, t: Target) -> LogSumExp:
        if self.dynamic and self.training:
            self._follow(t)
        return LogSumExp(self.s.clone())

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus(S - self.s.clone() * t.similarity)

    @torch.no_grad()
    def _follow(self, t: Target) -> None:
        negatives, _ = self.rows_of_batch(t.statistic(LogSumExp(self.s)))
        angles, _ = self.rows_of_batch(angle(t.similarity))
        if len(angles):
            log_average = negatives.logsumexp(0) - math.log(len(negatives))
            self.move(self.s, log_average / angles.median().clamp_max(math.pi / 4).cos(), momentum=1.)

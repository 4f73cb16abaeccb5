"""L2-constrained softmax (Ranjan, Castillo & Chellappa, 2017): features of one length before a linear layer."""
from torch import Tensor

from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp


@MODELS.register_module()
class L2SoftmaxLoss(FaceLoss):
    """``-log softmax(alpha <x / |x|, W_j> + b_j)``.

    Args:
        alpha: the features' length, > 0. The paper's lower bound for C classes and probability p is ``log(p (C - 2) / (1 - p))``: 11.46 for
            C = 10,575 and p = 0.9.
    """
    prototypes = 'raw'
    use_bias = True

    def __init__(self, alpha: float = 16., num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('L2SoftmaxLoss', alpha=alpha)
        self.radius = alpha

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(1.)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus(S - t.similarity)

"""The plain softmax of a linear layer: what every loss here is compared with."""
from torch import Tensor

from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target
from .statistics import LogSumExp


@MODELS.register_module()
class SoftmaxLoss(FaceLoss):
    """``-log softmax(<x, W_j> + b_j)``: nothing is normalised, the head owns the bias."""
    features = 'raw'
    prototypes = 'raw'
    use_bias = True

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(1.)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return softplus(S - t.similarity)

"""P2SGrad (Zhang et al., CVPR 2019): the gradient of a cosine softmax without scale, margin or softmax."""
import torch
from torch import Tensor

from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, known_classes, one_of
from .statistics import Elementwise


@MODELS.register_module()
class P2SGradLoss(FaceLoss):
    """``1/2 sum_j (cos theta_j - 1[j = y])^2`` per sample, whose gradient in the cosines is the paper's ``cos - 1[j = y]`` (Eq. 11).

    The paper gives the gradient of a sample and leaves the normalisation over the batch open.

    Args:
        reduction: ``'mean'`` over the batch of the above; ``'literal'``, their sum over the batch (the paper's text); ``'sum_c'``, twice
            the mean (Wang & Yamagishi); ``'mse'``, the mean squared error over all B C entries, as published re-implementations compute
            it: its gradient is C/2 times smaller than that of ``'mean'``.
    """

    def __init__(self, reduction: str = 'mean', num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        one_of('P2SGradLoss', ('mean', 'literal', 'sum_c', 'mse'), reduction=reduction)
        if reduction == 'mse':
            known_classes("P2SGradLoss with reduction 'mse'", num_classes)
        self.reduction = reduction

    def prepare(self, t: Target) -> Elementwise:
        return Elementwise('sum', torch.square)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        error = S + (1 - t.similarity)**2
        if self.reduction == 'mean':
            return error / 2
        if self.reduction == 'sum_c':
            return error
        if self.reduction == 'mse':
            return error / known_classes('P2SGradLoss', self.num_classes)
        return error / 2 * self.sum_over_batch(error.new_tensor(float(len(error))))

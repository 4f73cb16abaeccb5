"""SphereFace, or A-Softmax (Liu et al., CVPR 2017): L-Softmax with prototypes on the unit sphere."""
from torch import Tensor

from mmface.registry import MODELS

from .face_loss import Target
from .l_softmax_loss import LSoftmaxLoss


@MODELS.register_module()
class SphereFaceLoss(LSoftmaxLoss):
    """Target logit ``|x| (lam cos(theta) + psi(theta)) / (1 + lam)``, the others' ``|x| cos(theta_j)``.

    Arguments and buffer are those of :class:`LSoftmaxLoss`: lam starts at 892.86 and reaches 5 after 1,659 iterations.
    """
    prototypes = 'unit'

    def _length(self, t: Target) -> Tensor:
        return t.feature_norm

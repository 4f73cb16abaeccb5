"""SCF (Li et al., CVPR 2021): a von Mises-Fisher distribution an image, whose concentration says how sure the network is."""
import math

from torch import Tensor

from mmface.functional.bessel import log_bessel_i_over_power
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive


@MODELS.register_module()
class SCFLoss(FaceLoss):
    """``-kappa cos - (d/2 - 1) log kappa + log I_(d/2-1)(kappa) + d/2 log(2 pi) + d log(radius)``, no negatives.

    The Kullback-Leibler divergence from a point mass at the prototype to the image's distribution. The embedding is both of its parameters:
    its direction the mean, its norm the concentration kappa, which :class:`~mmface.models.SCFHead` sees to.

    Args:
        dim: d, the embedding size, at least 2.
        radius: of the sphere on which the prototypes are taken to lie, > 0; it changes the value of the loss only.
    """

    def __init__(self, dim: int = 512, radius: float = 64., num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('SCFLoss', radius=radius)
        if dim < 2:
            raise ValueError(f'SCFLoss: dim must be at least 2, got {dim}')
        self.dim = dim
        self.constant = dim / 2 * math.log(2 * math.pi) + dim * math.log(radius)

    def prepare(self, t: Target) -> None:
        return None

    def forward(self, t: Target, S: Tensor | None) -> Tensor:
        kappa = t.feature_norm
        return log_bessel_i_over_power(self.dim / 2 - 1, kappa) - kappa * t.similarity + self.constant

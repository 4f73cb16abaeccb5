"""MagFace (Meng et al., CVPR 2021): the longer the feature, the larger its margin and the smaller its regulariser."""
import warnings

from torch import Tensor

from mmface.functional.angular import cos_plus_easy, cos_plus_monotone
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp


@MODELS.register_module()
class MagFaceLoss(FaceLoss):
    """Target logit ``s cos(theta + m(a))``, plus ``lambda_g (a / u_a^2 + 1 / a)``, where a is the feature norm clipped to [l_a, u_a].

    The margin ``m(a) = l_m + (u_m - l_m) (a - l_a) / (u_a - l_a)`` is differentiated with respect to the norm, which makes magnitude a
    measure of quality. Outside [l_a, u_a] the norm has no gradient.

    Args:
        s: the scale, > 0.
        l_a: the lowest norm that counts, > 0.
        u_a: the highest, > l_a.
        l_m: the margin at l_a, in radians.
        u_m: the margin at u_a, in radians.
        lambda_g: weight of the regulariser. Below ``s K u_a^2 l_a^2 / (u_a^2 - l_a^2)``, K the margin's slope (22.6 for the defaults), the
            paper's proof of convergence does not hold, and a warning says so.
        easy_margin: the margin only below 90 degrees (the authors' default), rather than cos - m sin m beyond pi - m.
    """

    def __init__(self,
                 s: float = 64.,
                 l_a: float = 10.,
                 u_a: float = 110.,
                 l_m: float = .45,
                 u_m: float = .8,
                 lambda_g: float = 35.,
                 easy_margin: bool = True,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('MagFaceLoss', s=s, l_a=l_a)
        if not l_a < u_a:
            raise ValueError(f'MagFaceLoss: the norm bounds need l_a < u_a, got l_a={l_a}, u_a={u_a}')
        if lambda_g < 0:
            raise ValueError(f'MagFaceLoss: lambda_g must not be negative, got {lambda_g}')
        self.s, self.l_a, self.u_a, self.l_m, self.lambda_g = s, l_a, u_a, l_m, lambda_g
        self.slope = (u_m - l_m) / (u_a - l_a)
        self.add_margin = cos_plus_easy if easy_margin else cos_plus_monotone
        bound = s * self.slope * u_a**2 * l_a**2 / (u_a**2 - l_a**2)
        if lambda_g < bound:
            warnings.warn(f'MagFaceLoss: lambda_g={lambda_g} is below {bound:.4g}, from where on training provably converges', stacklevel=2)

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.s)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        norm = t.feature_norm.clamp(self.l_a, self.u_a)
        cosine = self.add_margin(t.similarity, self.l_m + self.slope * (norm - self.l_a))
        return softplus(S - self.s * cosine) + self.lambda_g * (norm / self.u_a**2 + 1 / norm)

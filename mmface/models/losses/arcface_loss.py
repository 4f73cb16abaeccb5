"""ArcFace (Deng et al., CVPR 2019): an additive margin on the angle."""
import math
from collections.abc import Callable

from torch import Tensor

from mmface.functional.angular import cos_plus, cos_plus_easy, cos_plus_monotone, straight_through
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, one_of, positive
from .statistics import LogSumExp

BEYOND_PI: dict[str, Callable[[Tensor, float], Tensor]] = dict(monotone=cos_plus_monotone, easy=cos_plus_easy, none=cos_plus)


@MODELS.register_module()
class ArcFaceLoss(FaceLoss):
    """Target logit ``s cos(theta + m)``.

    Args:
        s: the scale, > 0.
        m: the angular margin in radians.
        beyond_pi: what happens where theta + m exceeds pi. ``'monotone'``: cos - m sin m (the authors' first code and most ports);
            ``'easy'``: no margin beyond 90 degrees; ``'none'``: nothing (insightface's arcface_torch); ``'clip'``: theta + m is clipped,
            and the cosines of all classes with it (AdaFace's repository).
        clip_eps: the distance from the ends for ``'clip'``, in cosine and in radians.
        detach_margin: the margin moves the value but not the slope. False is the papers' analysis; insightface trains with True.
    """

    def __init__(self,
                 s: float = 64.,
                 m: float = .5,
                 beyond_pi: str = 'monotone',
                 clip_eps: float = 1e-4,
                 detach_margin: bool = False,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('ArcFaceLoss', s=s, clip_eps=clip_eps)
        one_of('ArcFaceLoss', (*BEYOND_PI, 'clip'), beyond_pi=beyond_pi)
        self.s, self.m, self.beyond_pi, self.clip_eps, self.detach_margin = s, m, beyond_pi, clip_eps, detach_margin

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.s, clamp=1 - self.clip_eps if self.beyond_pi == 'clip' else None)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        cosine = self._clipped(t.similarity) if self.beyond_pi == 'clip' else BEYOND_PI[self.beyond_pi](t.similarity, self.m)
        if self.detach_margin:
            cosine = straight_through(cosine, of=t.similarity)
        return softplus(S - self.s * cosine)

    def _clipped(self, cosine: Tensor) -> Tensor:
        """cos(theta + m) with theta + m held inside [eps, pi - eps], the cosine inside +-(1 - eps): no gradient beyond."""
        eps = self.clip_eps
        return (cosine.clamp(-1 + eps, 1 - eps).acos() + self.m).clamp(eps, math.pi - eps).cos()

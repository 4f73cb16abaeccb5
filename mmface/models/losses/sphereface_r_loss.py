"""SphereFace-R (Liu et al., TPAMI 2022), with hard feature normalisation: multiplicative margins whose slope is detached."""
from collections.abc import Callable

import torch
from torch import Tensor

from mmface.functional.angular import angle, cos_times, straight_through
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, one_of, positive
from .statistics import Elementwise, LogSumExp


def _cos_times_clipped(cosine: Tensor, m: float) -> Tensor:
    return (m * angle(cosine)).clamp_max(torch.pi).cos()


def _unchanged(cosine: Tensor, _m: float) -> Tensor:
    return cosine


def _divided(cosine: Tensor, s: float, m: float) -> Tensor:
    return s * (angle(cosine) / m).cos()


def _divided_in_value(cosine: Tensor, s: float, m: float) -> Tensor:
    return s * straight_through((angle(cosine.detach()) / m).cos(), of=cosine)


TARGETS: dict[str, Callable[[Tensor, float], Tensor]] = dict(v0=cos_times, v1=_cos_times_clipped, v2=_unchanged)


@MODELS.register_module()
class SphereFaceRLoss(FaceLoss):
    """Softmax over ``s cos``, the target's angle multiplied by m, or (v2) the others' divided by m.

    Args:
        s: the scale, > 0.
        m: the factor of the angle, > 0. The paper's: v1 1.5 and v2 1.4 with s = 60.
        version: ``'v0'``: cos(m theta) continued so that it falls up to pi (SphereFace); ``'v1'``: cos(min(m theta, pi)); ``'v2'``: the
            target as it is, the negatives cos(theta / m).
        lw: the loss is multiplied by lw / s, > 0 (the authors' 50); None for no factor.
        detach_margin: the margin moves the value but not the slope ("characteristic gradient detachment"), as the paper has it.
    """

    def __init__(self,
                 s: float = 30.,
                 m: float = 1.5,
                 version: str = 'v1',
                 lw: float | None = None,
                 detach_margin: bool = True,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('SphereFaceRLoss', s=s, m=m, **({} if lw is None else dict(lw=lw)))
        one_of('SphereFaceRLoss', TARGETS, version=version)
        self.s, self.m, self.version, self.detach_margin = s, m, version, detach_margin
        self.factor = 1. if lw is None else lw / s

    def prepare(self, t: Target) -> LogSumExp | Elementwise:
        if self.version == 'v2':
            return Elementwise('lse', _divided_in_value if self.detach_margin else _divided, self.s, self.m)
        return LogSumExp(self.s)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        cosine = TARGETS[self.version](t.similarity, self.m)
        if self.detach_margin:
            cosine = straight_through(cosine, of=t.similarity)
        return self.factor * softplus(S - self.s * cosine)

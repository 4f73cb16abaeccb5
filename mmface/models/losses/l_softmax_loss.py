"""L-Softmax (Liu et al., ICML 2016): the first margin, a multiple of the angle."""
from collections.abc import Mapping

import torch
from torch import Tensor

from mmface.functional.angular import cos_times
from mmface.functional.softplus import softplus
from mmface.functional.unit import ZERO_NORM
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target
from .statistics import LogSumExp


@MODELS.register_module()
class LSoftmaxLoss(FaceLoss):
    """Target logit ``|W| |x| (lam cos(theta) + psi(theta)) / (1 + lam)``, psi the falling continuation of cos(m theta); no bias.

    Args:
        m: the factor of the angle, a whole number >= 1.
        lam: the weight of the logit without margin, >= 0, which training lowers: ``max(min, base (1 + gamma iteration)^-power)`` for a dict
            of these four, or a fixed number. The default is SphereFace's; the L-Softmax paper's nets use ``power=35`` or 45 with a gamma
            of 1e-5 to 2.5e-5 and ``min=0``.

    Attributes:
        iteration: int64 buffer, the number of training batches seen, this one included: 1 in the first.
    """
    features = 'raw'
    prototypes = 'raw'
    iteration: Tensor

    def __init__(self,
                 m: int = 4,
                 lam: dict | float = dict(base=1000., gamma=.12, power=1., min=5.),
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        name = type(self).__name__
        if m < 1 or m != int(m):
            raise ValueError(f'{name}: m must be a whole number of at least 1, got {m}')
        schedule = dict(lam) if isinstance(lam, Mapping) else dict(base=lam, gamma=0., power=0., min=0.)
        if set(schedule) != {'base', 'gamma', 'power', 'min'}:
            raise ValueError(f'{name}: lam is a number or a dict of base, gamma, power and min, got {lam}')
        if min(schedule.values()) < 0:
            raise ValueError(f'{name}: lam must not be negative, got {lam}')
        self.m, self.schedule = m, schedule
        self.register_buffer('iteration', torch.tensor(0))

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(1.)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        if self.training:
            self.iteration += 1
        lam, length = self._lam().to(t.similarity), self._length(t)
        cosine = t.similarity / torch.where(length > ZERO_NORM, length, 1.)
        return softplus(S - (lam * t.similarity + length * cos_times(cosine, self.m)) / (1 + lam))

    def _length(self, t: Target) -> Tensor:
        """What the cosine is multiplied by in the similarity, ``[B]``."""
        return t.feature_norm * t.prototype_norm

    def _lam(self) -> Tensor:
        p = self.schedule
        return (p['base'] * (1 + p['gamma'] * self.iteration.double())**-p['power']).clamp_min(p['min'])

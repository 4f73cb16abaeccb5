"""SphereFace2 (Wen et al., ICLR 2022): one binary classification a class, without softmax."""
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from mmface.functional.angular import angle, inner_cosine, straight_through
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, known_classes, one_of, positive
from .statistics import SoftplusSum


def stretched(cosine: Tensor, t: float) -> Tensor:
    """``g(cos) = 2 ((cos + 1) / 2)^t - 1``, which spreads the similarities of different people over more of [-1, 1]."""
    return 2**(1 - t) * (inner_cosine(cosine) + 1)**t - 1


#: The target's score of each kind, from (cos, t, m).
TARGETS: dict[str, Callable[[Tensor, float, float], Tensor]] = dict(
    C=lambda cosine, t, m: stretched(cosine, t) - m,
    A=lambda cosine, t, m: stretched((angle(cosine) + m).clamp_max(torch.pi).cos(), t),
    M=lambda cosine, t, m: stretched((angle(cosine) * m).clamp_max(torch.pi).cos(), t))


def _negative(cosine: Tensor, bias: Tensor, r: float, t: float, m: float) -> Tensor:
    return torch.add(bias + r * m, stretched(cosine, t), alpha=r)


def _negative_in_value(cosine: Tensor, bias: Tensor, r: float, t: float, m: float) -> Tensor:
    return torch.add(bias + r * m, straight_through(stretched(cosine.detach(), t), of=cosine), alpha=r)


@MODELS.register_module()
class SphereFace2Loss(FaceLoss):
    """``lw / r (lam softplus(-(r G_y + b)) + (1 - lam) sum_j softplus(r G_j + b))``.

    Args:
        lam: the target's share against the negatives', in (0, 1).
        r: the scale, > 0.
        m: the margin of the kind.
        t: the exponent of ``g(cos) = 2 ((cos + 1) / 2)^t - 1``, > 0.
        lw: weight of the loss, > 0 (the code's default 50, its configs' 10).
        kind: with ``'C'`` the scores are g(cos) - m for the target, g(cos) + m for the negatives; with ``'A'`` g(cos(theta + m)) and
            g(cos), with ``'M'`` g(cos(m theta)) and g(cos), angles up to pi. The paper's m: 0.4, 0.5, 1.7.
        detach_margin: g and the margin move the values but not the slopes ("characteristic gradient detachment"), as published.

    Attributes:
        bias: scalar parameter b, which starts where target and negatives at 90 degrees balance. Not for weight decay.
    """

    def __init__(self,
                 lam: float = .7,
                 r: float = 40.,
                 m: float = .4,
                 t: float = 3.,
                 lw: float = 50.,
                 kind: str = 'C',
                 detach_margin: bool = True,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        classes = known_classes('SphereFace2Loss', num_classes, least=2)
        positive('SphereFace2Loss', r=r, t=t, lw=lw)
        one_of('SphereFace2Loss', TARGETS, kind=kind)
        if not 0 < lam < 1:
            raise ValueError(f'SphereFace2Loss: lam must lie in (0, 1), got {lam}')
        self.lam, self.r, self.m, self.t, self.lw, self.kind, self.detach_margin = lam, r, m, t, lw, kind, detach_margin
        self.negative_margin = m if kind == 'C' else 0.
        self.bias = nn.Parameter(torch.tensor(self._balanced_bias(classes)))

    def prepare(self, t: Target) -> SoftplusSum:
        fn = _negative_in_value if self.detach_margin else _negative
        return SoftplusSum(fn, self.bias, self.r, self.t, self.negative_margin)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        score = TARGETS[self.kind](t.similarity, self.t, self.m)
        if self.detach_margin:
            score = straight_through(score, of=t.similarity)
        return self.lw / self.r * (self.lam * softplus(-(self.r * score + self.bias)) + (1 - self.lam) * S)

    def _balanced_bias(self, classes: int) -> float:
        """The b at which the loss is smallest where all angles are 90 degrees."""
        zero = torch.zeros((), dtype=torch.float64)
        target = self.r * float(TARGETS[self.kind](zero, self.t, self.m))
        other = self.r * (float(stretched(zero, self.t)) + self.negative_margin)
        z = self.lam / ((1 - self.lam) * (classes - 1))
        return math.log(2 * z) - other - math.log(1 - z + math.sqrt((1 - z)**2 + 4 * z * math.exp(target - other)))

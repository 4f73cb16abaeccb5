"""GB-CosFace (Chen et al., ACCV 2022): target and negatives each against an adaptive global boundary."""
import torch
from torch import Tensor

from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp


@MODELS.register_module()
class GBCosFaceLoss(FaceLoss):
    """``1/2 softplus(2 s (p_v - p_y + m)) + 1/2 softplus(2 s (p_n - p_v + m))`` (Eq. 9-11).

    p_y is the target cosine, ``p_n = 1/s log sum_{j != y} exp(s p_j)`` the soft maximum of the others, and the boundary
    ``p_v = alpha p_vg + (1 - alpha) (p_y + p_n) / 2`` (Eq. 8) mixes a running global boundary with the one that balances this sample's two
    gradients (Eq. 6). At alpha = 0 the loss is CosFace with margin 2 m, in value and gradient. Without negatives it is 0.

    Args:
        s: the scale, > 0.
        m: the cosine margin, half of the CosFace margin that it stands for.
        alpha: the share of the global boundary, in [0, 1].
        gamma: weight of the new batch in the global boundary, in [0, 1] (Eq. 7).
        clamp: the interval in which the global boundary is held before each use.
        detach_boundary: whether the boundary is a constant of the gradient, as in the official code.

    Attributes:
        p_vg: buffer, the global boundary; NaN until the first training batch sets it to its own mean. While it is NaN the batch's own value
            is used, which evaluation does not store. The official code keeps it outside the checkpoint and loses it on resume.
    """
    p_vg: Tensor

    def __init__(self,
                 s: float = 32.,
                 m: float = .16,
                 alpha: float = .15,
                 gamma: float = .01,
                 clamp: tuple[float, float] = (.5, .7),
                 detach_boundary: bool = True,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('GBCosFaceLoss', s=s)
        for name, value in dict(alpha=alpha, gamma=gamma).items():
            if not 0 <= value <= 1:
                raise ValueError(f'GBCosFaceLoss: {name} must lie in [0, 1], got {value}')
        if not clamp[0] <= clamp[1]:
            raise ValueError(f'GBCosFaceLoss: clamp is (lowest, highest), got {clamp}')
        self.s, self.m, self.alpha, self.gamma, self.clamp, self.detach_boundary = s, m, alpha, gamma, clamp, detach_boundary
        self.register_buffer('p_vg', torch.tensor(torch.nan))

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.s)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        alone = S.isneginf()
        p_y, p_n = t.similarity, S.masked_fill(alone, 0.) / self.s
        balanced = (p_y + p_n) / 2
        boundary = self.alpha * self._global_boundary(balanced.masked_fill(alone, -torch.inf)) + (1 - self.alpha) * balanced
        if self.detach_boundary:
            boundary = boundary.detach()
        loss = (softplus(2 * self.s * (boundary - p_y + self.m)) + softplus(2 * self.s * (p_n - boundary + self.m))) / 2
        return loss.masked_fill(alone, 0.)  # the limit for p_n -> -inf

    def _global_boundary(self, balanced: Tensor) -> Tensor:
        """The boundary in use for this batch; in train mode the batch then moves it (Eq. 7)."""
        batch_mean = self.mean_over_batch(balanced).to(self.p_vg)
        used = torch.where(self.p_vg.isnan(), batch_mean, self.p_vg).clamp(*self.clamp)
        if self.training:
            moved = used.lerp(batch_mean, self.gamma)  # not finite for an empty batch, one without negatives, or one that overflowed
            self.p_vg.copy_(torch.where(moved.isfinite(), moved, self.p_vg))
        return used

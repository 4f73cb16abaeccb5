"""AdaFace (Kim, Jain & Liu, CVPR 2022): a margin that adapts to image quality, for which the feature norm is the proxy."""
import math

import torch
from torch import Tensor

from mmface.functional.angular import inner_cosine, straight_through
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, positive
from .statistics import LogSumExp

EPS = 1e-3  #: the official code's distance of cosines from +-1, of angles from 0 and pi, and of the deviation from 0


@MODELS.register_module()
class AdaFaceLoss(FaceLoss):
    """Target logit ``s (cos(theta + g_angle) - g_add)`` with ``g_angle = -m z``, ``g_add = m z + m`` (Eq. 14).

    The quality ``z = clip((|x| - mean) / (std / h), -1, 1)`` is +1 for the sharpest images and carries no gradient; mean and deviation of
    the norm are running statistics of the global batch, updated before use, in train mode. z = -1 is ArcFace, z = 0 CosFace.

    Args:
        s: the scale, > 0.
        m: the margin.
        h: how much of the norms' spread maps onto [-1, 1].
        momentum: weight of the new batch in the running statistics, in (0, 1]. The paper prints 0.99 where the official code sets 0.01.
        detach_margin: the margin moves the value but not the slope (CVLface).
        clip: the official code's clips: all cosines inside +-(1 - 1e-3), theta + g_angle inside [1e-3, pi - 1e-3], norms inside
            [1e-3, 100], and 1e-3 added to the deviation. Without them the gradient of a sharp image within m of its prototype changes
            sign. False is the paper's equation as printed.
        scale_g_add: whether g_add is multiplied by s. False is the paper's equation as printed; z = 0 is then not CosFace.

    Attributes:
        norm_mean, norm_std: buffers, the running statistics, 20 and 100 at first.
    """
    norm_mean: Tensor
    norm_std: Tensor

    def __init__(self,
                 s: float = 64.,
                 m: float = .4,
                 h: float = .333,
                 momentum: float = .01,
                 detach_margin: bool = False,
                 clip: bool = True,
                 scale_g_add: bool = True,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('AdaFaceLoss', s=s, momentum=momentum)
        if momentum > 1:
            raise ValueError(f'AdaFaceLoss: momentum is the weight of the new batch, in (0, 1], got {momentum}')
        if h < 0:
            raise ValueError(f'AdaFaceLoss: h must not be negative, got {h}')
        self.s, self.m, self.h, self.momentum = s, m, h, momentum
        self.detach_margin, self.clip, self.scale_g_add = detach_margin, clip, scale_g_add
        self.register_buffer('norm_mean', torch.tensor(20.))
        self.register_buffer('norm_std', torch.tensor(100.))

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.s, clamp=1 - EPS if self.clip else None)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        quality = self._quality(t.feature_norm.detach())
        angle_margin, cosine_margin = -self.m * quality, self.m * quality + self.m
        if self.clip:
            theta = t.similarity.clamp(-1 + EPS, 1 - EPS).acos() + angle_margin
            cosine = theta.clamp(EPS, math.pi - EPS).cos()
        else:
            cosine = (inner_cosine(t.similarity).acos() + angle_margin).cos()
        logit = self.s * cosine - (self.s if self.scale_g_add else 1) * cosine_margin
        if self.detach_margin:
            logit = straight_through(logit, of=self.s * t.similarity)
        return softplus(S - logit)

    def _quality(self, norm: Tensor) -> Tensor:
        """Returns z in [-1, 1] from norms ``[B]``, after the running statistics have seen them."""
        norm = norm.clamp(EPS, 100) if self.clip else norm
        if self.training:
            self._update(norm)
        spread = self.norm_std + (EPS if self.clip else torch.finfo(norm.dtype).tiny)
        return ((norm - self.norm_mean) / spread * self.h).clamp(-1, 1)

    @torch.no_grad()
    def _update(self, norm: Tensor) -> None:
        count, total = self.sum_over_batch(torch.stack([norm.new_tensor(float(len(norm))), norm.sum()]))
        mean = total / count
        squares = self.sum_over_batch(((norm - mean)**2).sum())
        self.move(self.norm_mean, mean, self.momentum)
        # 0 / 0 for a batch of one, which therefore moves the mean only; the official code's deviation is NaN from there on.
        self.move(self.norm_std, (squares / (count - 1).clamp_min(0)).sqrt(), self.momentum)

"""ElasticFace (Boutros et al., CVPR Workshops 2022): margins drawn anew for every sample in every step."""
import torch
from torch import Tensor

from mmface.functional.angular import cos_plus
from mmface.functional.counter_based import normal
from mmface.functional.softplus import softplus
from mmface.registry import MODELS

from .face_loss import FaceLoss, Target, one_of, positive
from .statistics import LogSumExp


@MODELS.register_module()
class ElasticFaceLoss(FaceLoss):
    """Target logit ``s cos(theta + m_i)`` or ``s (cos(theta) - m_i)`` with ``m_i`` from N(m, std).

    A margin depends on (seed, iteration, index in the global batch) only: a resumed training, and one on more devices, draws the same.

    Args:
        s: the scale, > 0.
        m: the mean margin: in radians for ``'arc'``, in cosine for ``'cos'`` (the paper's is 0.35 there).
        std: the margins' deviation, >= 0. The paper's: Arc 0.05, Cos 0.05, Arc+ 0.0175, Cos+ 0.02.
        kind: ``'arc'`` or ``'cos'``.
        plus: ElasticFace+: the margins of the batch are handed out by difficulty, the largest to the smallest target cosine.
        seed: of the draws.

    Attributes:
        iteration: int64 buffer, the number of training batches seen, this one included.
    """
    iteration: Tensor

    def __init__(self,
                 s: float = 64.,
                 m: float = .5,
                 std: float = .05,
                 kind: str = 'arc',
                 plus: bool = False,
                 seed: int = 0,
                 num_classes: int | None = None) -> None:
        super().__init__(num_classes)
        positive('ElasticFaceLoss', s=s)
        one_of('ElasticFaceLoss', ('arc', 'cos'), kind=kind)
        if std < 0:
            raise ValueError(f'ElasticFaceLoss: std must not be negative, got {std}')
        self.s, self.m, self.std, self.kind, self.plus, self.seed = s, m, std, kind, plus, seed
        self.register_buffer('iteration', torch.tensor(0))

    def prepare(self, t: Target) -> LogSumExp:
        return LogSumExp(self.s)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        if self.training:
            self.iteration += 1
        margin = self.draw(len(t.similarity)).to(t.similarity)
        if self.plus:
            margin = self._by_difficulty(margin, t.similarity)
        cosine = cos_plus(t.similarity, margin) if self.kind == 'arc' else t.similarity - margin
        return softplus(S - self.s * cosine)

    def draw(self, n: int) -> Tensor:
        """The margins ``[n]`` of this iteration's rows; override it for another distribution."""
        index = self.rows_before(n) + torch.arange(n, device=self.iteration.device)
        return self.m + self.std * normal(self.seed, self.iteration, index)

    def _by_difficulty(self, margin: Tensor, cosine: Tensor) -> Tensor:
        """The global batch's margins, the smallest to the row with the largest cosine and so on; of these, the rows here ``[B]``."""
        margins, here = self.rows_of_batch(margin)
        cosines, _ = self.rows_of_batch(cosine)
        easiest_first = cosines.argsort(descending=True, stable=True)
        return torch.empty_like(margins).index_copy_(0, easiest_first, margins.sort().values)[here]

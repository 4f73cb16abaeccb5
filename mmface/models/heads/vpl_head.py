"""VPL (Deng et al., CVPR 2021): prototypes that take on the latest embedding of their class."""
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mmface.functional.collective_chain import CollectiveChain
from mmface.functional.unit import unit
from mmface.registry import MODELS

from ..engines.engine import Engine
from ..engines.plan import Mix
from ..losses.face_loss import FaceLoss, Target
from .face_cls_head import FaceClsHead
from .row_history import RowHistory


def mixed(prototypes: Tensor, classes: Tensor, memory: Callable[[Tensor], Tensor], share: Tensor) -> Tensor:
    """``(1 - share) w / |w| + share m / |m|`` of prototypes w ``[n, D]``, of classes ``[n]``; memory from these to m, shares ``[C]``."""
    directions, last = unit(prototypes)[0], unit(memory(classes).to(prototypes))[0]
    return directions.lerp(last, share[classes].to(prototypes).unsqueeze(1))


class _MixingEngine(Engine):
    """Has an engine mix its prototypes with ``mix``, where that is set."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        self.mix: Mix | None = None

    @property
    def row_sparse(self) -> bool:
        return self.engine.row_sparse

    def forward(self,
                embeddings: Tensor,
                labels: Tensor,
                weight: Tensor,
                bias: Tensor | None,
                loss: FaceLoss,
                num_centers: int = 1,
                mix: Mix | None = None) -> tuple[Target, Tensor | None]:
        return self.engine(embeddings, labels, weight, bias, loss, num_centers, self.mix)

    def release_buffers(self) -> int:
        return self.engine.release_buffers()


@MODELS.register_module()
class VPLHead(FaceClsHead):
    """The prototype of a class seen lately is mixed with the direction of its last embedding: ``(1 - lam) w_j / |w_j| + lam m_j``.

    Only the prototype gets a gradient from the mix. Without a margin it is a compromise between comparing with prototypes and with samples.

    Args:
        num_classes: C.
        in_channels: D.
        lam: the share of the embedding, in [0, 1).
        delta: for how many training batches an embedding is used, at least 0.
        start_iter: how many training batches are only remembered.
        **kwargs: of :class:`~mmface.models.FaceClsHead`, without ``num_centers``; the loss is one on cosines.

    Attributes:
        memory: buffer ``[C, D]``, the last embedding of each class; its length does not matter.
        seen: int64 buffer ``[C]``, the number of the training batch that it is of, from 0; -1 for none yet.
        iteration: int64 buffer, the number of training batches seen.
    """
    memory: Tensor
    seen: Tensor
    iteration: Tensor

    def __init__(self,
                 num_classes: int,
                 in_channels: int,
                 lam: float = .15,
                 delta: int = 200,
                 start_iter: int = 8000,
                 **kwargs: Any) -> None:
        super().__init__(num_classes, in_channels, **kwargs)
        if not 0 <= lam < 1 or delta < 0 or start_iter < 0:
            raise ValueError(f'VPLHead: lam must lie in [0, 1), delta and start_iter are not negative, got {lam}, {delta}, {start_iter}')
        if self.num_centers != 1 or self.loss_module.prototypes != 'unit':
            raise ValueError(f'VPLHead needs one prototype a class and a loss on unit prototypes, got num_centers={self.num_centers} and '
                             f'{type(self.loss_module).__name__}')
        self.lam, self.delta, self.start_iter = lam, delta, start_iter
        self.engine = _MixingEngine(self.engine)
        self._history = RowHistory()
        classes = len(self.weight)
        self.register_buffer('memory', torch.zeros(classes, in_channels))
        self.register_buffer('seen', torch.full((classes, ), -1))
        self.register_buffer('iteration', torch.tensor(0))
        self._mark_sharded(memory=1, seen=1)

    def _losses(self, embeddings: Tensor, labels: Tensor, weight: Tensor | None, reduction: str,
                chain: CollectiveChain | None) -> dict[str, Tensor]:
        mixes = self.training and self.iteration >= self.start_iter
        # The backward pass mixes again, when the memory has this batch in it.
        self.engine.mix = partial(mixed, memory=self._history.reader(self.memory), share=self._share()) if mixes else None
        try:
            losses = super()._losses(embeddings, labels, weight, reduction, chain)
        finally:
            self.engine.mix = None
        if self.training:
            self._remember(embeddings.detach(), labels)
        return losses

    def _share(self) -> Tensor:
        """How much of each prototype is its class's last embedding, ``[C]``."""
        fresh = (self.seen >= 0) & (self.iteration - self.seen <= self.delta)
        return self.lam * fresh.to(self.memory)

    @torch.no_grad()
    def _remember(self, embeddings: Tensor, labels: Tensor) -> None:
        """Keeps the last embedding of each class in the global batch."""
        counted = labels >= 0
        labels, _ = self.loss_module.rows_of_batch(labels[counted])
        embeddings, _ = self.loss_module.rows_of_batch(embeddings[counted].to(self.memory))
        labels = self._own_classes(labels)
        rows = (labels >= 0).nonzero().squeeze(1)
        last = torch.full_like(self.seen, -1).scatter_reduce_(0, labels[rows], rows, 'amax')
        present = (last >= 0).nonzero().squeeze(1)
        self._history.overwrite(self.memory, present, embeddings[last[present]])
        self.seen[present] = self.iteration
        self.iteration += 1

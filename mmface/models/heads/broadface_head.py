"""BroadFace (Kim, Park & Shin, ECCV 2020): the prototypes learn from the embeddings of many batches at once."""
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from mmface.functional.collective_chain import CollectiveChain
from mmface.functional.collectives import sum_over_ranks
from mmface.registry import MODELS

from ..engines import FusedEngine
from .face_cls_head import FaceClsHead


@MODELS.register_module()
class BroadFaceHead(FaceClsHead):
    """Two losses: the batch's, of which only the embeddings learn, and that of queue and batch, of which only the prototypes learn.

    The queue holds the embeddings of past batches, their labels, and what their prototypes were then. In eval mode and before
    ``start_iter`` there is the ordinary loss alone. A loss with state, such as AdaFace's, moves it with the batch; the queue is judged by
    the same state.

    Args:
        num_classes: C.
        in_channels: D.
        queue_size: Q, the number of embeddings kept, at least 1 (the paper 32,768, its code 10,000): of every rank for itself or, if
            sharded, of all ranks, each of which then has the whole queue. A step sums the prototypes of its Q classes (to compensate) and
            of the batch's over the ranks: (Q + W B) x D values beside what every sharded head exchanges.
        compensate: whether a past embedding is moved as its prototype has moved since: ``e + |e| / |w_then| (w_now - w_then)``.
        start_iter: how many training batches only fill the queue.
        **kwargs: of :class:`~mmface.models.FaceClsHead`, without ``num_centers``.

    Attributes:
        queue_embeddings: buffer ``[Q, D]``, not normalised.
        queue_labels: int64 buffer ``[Q]``, -1 for a free place.
        queue_prototypes: buffer ``[Q, D]``, not normalised.
        iteration: int64 buffer, the number of training batches seen.
        queue_engine: the engine of the second loss, always in mode ``'recompute'``: the head's otherwise, or a
            :class:`~mmface.models.FusedEngine` where that one knows no such mode.
        queued: int64 buffer, the number of embeddings ever put in; the next goes to place ``queued % Q``.
    """
    queue_embeddings: Tensor
    queue_labels: Tensor
    queue_prototypes: Tensor
    iteration: Tensor
    queued: Tensor

    def __init__(self,
                 num_classes: int,
                 in_channels: int,
                 queue_size: int = 10000,
                 compensate: bool = True,
                 start_iter: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(num_classes, in_channels, **kwargs)
        if queue_size < 1 or start_iter < 0:
            raise ValueError(f'BroadFaceHead: queue_size must be at least 1 and start_iter not negative, got {queue_size} and {start_iter}')
        if self.num_centers != 1:
            raise ValueError(f'BroadFaceHead needs one prototype a class, got num_centers={self.num_centers}')
        self.compensate, self.start_iter = compensate, start_iter
        self.queue_engine = copy.deepcopy(self.engine) if hasattr(self.engine, 'mode') else FusedEngine()
        self.queue_engine.mode = 'recompute'
        self.register_buffer('queue_embeddings', torch.zeros(queue_size, in_channels))
        self.register_buffer('queue_labels', torch.full((queue_size, ), -1))
        self.register_buffer('queue_prototypes', torch.zeros(queue_size, in_channels))
        self.register_buffer('iteration', torch.tensor(0))
        self.register_buffer('queued', torch.tensor(0))

    def _losses(self, embeddings: Tensor, labels: Tensor, weight: Tensor | None, reduction: str,
                chain: CollectiveChain | None) -> dict[str, Tensor]:
        """As the base class; ``'mean'``: ``loss`` is the sum of both, ``'none'``: the batch's own losses."""
        broad = self.training and bool(self.iteration >= self.start_iter)
        with self._constant_parameters(broad):
            losses = super()._losses(embeddings, labels, weight, reduction, chain)
        if broad and reduction == 'mean':
            with self._as_judge_of_the_queue():
                losses['loss'] = losses['loss'] + self._broad_loss(embeddings.detach(), labels, weight, chain)
        if self.training:
            self._enqueue(embeddings.detach(), labels)
        return losses

    def release_buffers(self) -> int:
        return super().release_buffers() + self.queue_engine.release_buffers()

    def _broad_loss(self, embeddings: Tensor, labels: Tensor, weight: Tensor | None, chain: CollectiveChain | None) -> Tensor:
        filled = self.queue_labels >= 0
        past, past_labels, then = self.queue_embeddings[filled], self.queue_labels[filled], self.queue_prototypes[filled]
        if self.compensate:
            moved = self._prototypes(past_labels) - then
            past = past + past.norm(dim=1, keepdim=True) / then.norm(dim=1, keepdim=True).clamp_min(torch.finfo(then.dtype).tiny) * moved
        if weight is not None:
            weight = torch.cat([weight.new_ones(len(past)), weight])
        rows, labels = torch.cat([past.to(embeddings), embeddings]), torch.cat([past_labels, labels])
        return super()._losses(rows, labels, weight, 'mean', chain)['loss']

    def _prototypes(self, labels: Tensor) -> Tensor:
        """Of classes ``[n]``, ``[n, D]``; if sharded, equal on all ranks, of which each contributes those it holds."""
        if not self.sharded:
            return self.weight.detach()[labels]
        own = self._own_classes(labels)
        here = own >= 0
        rows = self.weight.new_zeros(len(labels), self.in_channels).masked_scatter_(here.unsqueeze(1), self.weight.detach()[own[here]])
        return sum_over_ranks(rows)

    @torch.no_grad()
    def _enqueue(self, embeddings: Tensor, labels: Tensor) -> None:
        self.iteration += 1
        embeddings, labels = embeddings[labels >= 0], labels[labels >= 0]
        size = len(self.queue_labels)
        place = (self.queued + torch.arange(len(labels), device=labels.device))[-size:] % size
        self.queue_embeddings[place] = embeddings[-size:].to(self.queue_embeddings)
        self.queue_prototypes[place] = self._prototypes(labels[-size:]).to(self.queue_prototypes)
        self.queue_labels[place] = labels[-size:]
        self.queued += len(labels)

    @contextmanager
    def _constant_parameters(self, constant: bool) -> Iterator[None]:
        """No gradient for the parameters that have one outside."""
        learned = [p for p in self.parameters() if p.requires_grad and constant]
        for parameter in learned:
            parameter.requires_grad_(False)
        try:
            yield
        finally:
            for parameter in learned:
                parameter.requires_grad_(True)

    @contextmanager
    def _as_judge_of_the_queue(self) -> Iterator[None]:
        """The loss's statistics stay as they are, and no array of the queue's size is stored."""
        batch_engine, self.engine = self.engine, self.queue_engine
        self.loss_module.eval()
        try:
            yield
        finally:
            self.engine = batch_engine
            self.loss_module.train(self.training)

"""A pass over the positives and a fraction of the other classes."""
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from mmface.functional.counter_based import uniform
from mmface.registry import MODELS

from ..losses.face_loss import FaceLoss, Target
from .fused_engine import FusedEngine
from .plan import Mix
from .rows import DrawnRows


@MODELS.register_module()
class SampledEngine(FusedEngine):
    """Passes over sampled classes only, after Partial FC (An et al., CVPR 2022), https://github.com/deepinsight/insightface.

    In a training step class j takes part if it is the label of a row of the global batch or if hash(seed, step, j) < ratio: every class of
    itself, whereas the official code fills up to an exact number. The draw needs no communication, does not depend on the number of ranks
    and is the same after a resume. As there, statistics are those of the classes drawn, not estimates of those of all. In evaluation all
    classes take part.

    The gradient of the prototypes (and of the head's bias) is row-sparse; an optimiser wrapper of mmface steps the drawn rows alone, those
    of several draws where gradients are accumulated. Stock optimisers refuse such gradients or, like plain SGD, move these rows only.

    Args:
        ratio: the share of classes to draw, in (0, 1].
        seed: of the draws.
        **kwargs: of :class:`~mmface.models.FusedEngine`.

    Attributes:
        step: buffer int64, how many draws have been made; saved, and raised in train mode only.
    """
    row_sparse = True
    step: Tensor

    def __init__(self, ratio: float = 0.1, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 < ratio <= 1:
            raise ValueError(f'SampledEngine: ratio must lie in (0, 1], got {ratio}')
        self.ratio, self.seed = ratio, seed
        self.register_buffer('step', torch.tensor(0))

    def forward(self,
                embeddings: Tensor,
                labels: Tensor,
                weight: Tensor,
                bias: Tensor | None,
                loss: FaceLoss,
                num_centers: int = 1,
                mix: Mix | None = None) -> tuple[Target, Tensor | None]:
        if not self.training:
            return super().forward(embeddings, labels, weight, bias, loss, num_centers, mix)
        classes = torch.arange(len(weight) // num_centers, device=weight.device)
        takes_part = uniform(self.seed, self.step, self.first_class + classes) < self.ratio
        everyone, _ = loss.rows_of_batch(labels)
        takes_part[everyone[everyone >= 0]] = True
        self.step += 1

        classes = classes[takes_part]
        rows = (classes.unsqueeze(1) * num_centers + torch.arange(num_centers, device=weight.device)).flatten()
        place = torch.where(labels >= 0, torch.searchsorted(classes, labels), -1)
        if (copies := int(loss.sum_over_batch(torch.ones((), device=weight.device)))) > 1:
            mean = partial(_MeanOverCopies.apply, loss, copies)
            weight, bias = mean(weight), bias if bias is None else mean(bias)
        bias = None if bias is None else bias.gather(0, classes, sparse_grad=True)
        return self._pass(embeddings, place, weight, bias, loss, num_centers, mix, DrawnRows(rows))


class _MeanOverCopies(Function):
    """A parameter whose row-sparse gradient is averaged over the ranks with a copy of it, as DistributedDataParallel does with dense ones.

    All of them have drawn the same rows.
    """

    @staticmethod
    def forward(ctx: Any, loss: FaceLoss, copies: int, parameter: Tensor) -> Tensor:
        ctx.sum_over_batch, ctx.copies = loss.sum_over_batch, copies
        return parameter.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:
        values = ctx.sum_over_batch(gradient._values()) / ctx.copies
        return None, None, torch.sparse_coo_tensor(
            gradient._indices(), values, gradient.shape, is_coalesced=gradient.is_coalesced(), check_invariants=False)

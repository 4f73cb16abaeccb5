"""What every engine is."""
from abc import abstractmethod

import torch
from torch import Tensor, nn

from mmface.functional.unit import unit

from ..losses.face_loss import FaceLoss, Target
from ..losses.statistics import Statistic
from .plan import Mix


class Engine(nn.Module):
    """The pass over the classes: the only code that touches a B x C array.

    An engine is called with embeddings, labels and prototypes, asks ``loss.prepare`` which statistic of the negatives it needs, and returns
    the two vectors on which the loss is written. It does not know the loss by name.

    Attributes:
        row_sparse: whether the prototypes' gradient is row-sparse. DistributedDataParallel cannot average such gradients, so the engine
            does it itself.
        first_class: the number of the first of its classes, where these are some of a larger number.
    """
    row_sparse = False
    first_class = 0

    @abstractmethod
    def forward(self,
                embeddings: Tensor,
                labels: Tensor,
                weight: Tensor,
                bias: Tensor | None,
                loss: FaceLoss,
                num_centers: int = 1,
                mix: Mix | None = None) -> tuple[Target, Tensor | None]:
        """Computes the target and the negatives' statistic.

        Args:
            embeddings: raw ``[B, D]``, at least fp32.
            labels: int64 ``[B]`` in ``[0, C)``, or -1 where the row's class is not among these: its similarity and norm are 0 then, and all
                classes are negatives.
            weight: raw prototypes ``[C * K, D]``, the K centres of a class contiguous.
            bias: ``[C]`` or None; added to the similarities.
            loss: says what similarities are (``features``, ``prototypes``, ``radius``) and which statistic it needs.
            num_centers: K; the similarity to a class is that to its closest centre, the first one of equals.
            mix: makes the prototypes from rows ``[n, D]`` of ``weight`` and their numbers, int64 ``[n]``; called for a few rows at a time.

        Returns:
            The target and the statistic S ``[B]``, or None where the loss needs none.
        """

    @staticmethod
    def without_classes(embeddings: Tensor, loss: FaceLoss) -> tuple[Target, Tensor | None]:
        """What :meth:`forward` returns where C is 0: what a rank contributes on which no class is, or none is drawn."""
        nothing = embeddings[:, :0].sum(1)

        def statistic(spec: Statistic) -> Tensor:
            return torch.full_like(nothing, -torch.inf if spec.kind == 'lse' else 0.)

        target = Target(nothing, unit(embeddings)[1], nothing, statistic)
        spec = loss.prepare(target)
        return target, None if spec is None else statistic(spec)

    def release_buffers(self) -> int:
        """Gives back what is kept between steps, and returns its size in bytes."""
        return 0

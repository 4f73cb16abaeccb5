"""What a check gets to see."""
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from mmface.models import FaceClsHead


@dataclass(frozen=True)
class Step:
    """A training step, after it was taken, on the CPU.

    Attributes:
        number: counted from 1.
        images: as the data set gave them, uint8 ``[B, 3, H, W]``, RGB by contract.
        labels: int64 ``[B]``, -1 for rows that do not count.
        embeddings: raw ``[N, D]`` of the rows that the head saw, at least fp32.
        classes: int64 ``[N]``, their labels, -1 where they are not of this rank's classes.
        loss: the mean.
        head: with its prototypes.
    """
    number: int
    images: Tensor
    labels: Tensor
    embeddings: Tensor
    classes: Tensor
    loss: float
    head: FaceClsHead


class Check(Protocol):
    """Looks at every step and speaks once."""

    def see(self, step: Step) -> str | None:
        """The diagnosis in words, once it can be made; None until then."""

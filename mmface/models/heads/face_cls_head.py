"""The head: prototypes, and what a loss makes of them."""
import torch
from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.functional.collectives import rows_before, sum_over_ranks, world_size
from mmface.registry import MODELS
from mmface.structures import FaceDataSample

from ..losses.face_loss import Target

#: Prototypes are drawn in blocks of this many classes, each with a generator of its own.
INIT_BLOCK = 4096


def draw_prototypes(num_classes: int, rows_per_class: int, dim: int, std: float, seed: int) -> Tensor:
    """N(0, std) prototypes ``[num_classes * rows_per_class, dim]`` that depend on (seed, class) only, not on how the classes are split."""
    blocks = []
    for start in range(0, num_classes, INIT_BLOCK):
        # The generator looks at 32 bits of its seed only; the odd factor spreads the seeds' blocks over them.
        generator = torch.Generator().manual_seed((seed * 0x9E3779B1 + start // INIT_BLOCK) % 2**32)
        rows = min(INIT_BLOCK, num_classes - start) * rows_per_class
        blocks.append(torch.randn(INIT_BLOCK * rows_per_class, dim, generator=generator)[:rows])
    return torch.cat(blocks).mul_(std)


@MODELS.register_module()
class FaceClsHead(BaseModule):
    """Owns the prototypes of ``num_classes`` identities and turns embeddings and labels into losses.

    Args:
        num_classes: C, the number of identities, at least 1.
        in_channels: D, the embedding size.
        loss: config of a :class:`~mmface.models.losses.FaceLoss`; ``num_classes`` is filled in.
        engine: config of the engine that passes over the classes: ``FusedEngine`` to train with, ``SampledEngine`` for a sample of them, or
            ``DenseEngine``, the plain form.
        num_centers: K prototypes a class (sub-centre ArcFace, ECCV 2020); the closest counts.
        init_std: standard deviation of the initial prototypes, N(0, init_std).
        seed: of the initial prototypes, which do not depend on anything else.

    Attributes:
        weight: prototypes ``[C * K, D]``, not normalised, the centres of a class contiguous.
        bias: ``[C]``, zero at first, or None where the loss has no use for it.
        loss_module: the loss.
    """
    needs_feature_map = False

    def __init__(self,
                 num_classes: int,
                 in_channels: int,
                 loss: dict,
                 engine: dict = dict(type='DenseEngine'),
                 num_centers: int = 1,
                 init_std: float = 0.01,
                 seed: int = 0,
                 init_cfg: dict | None = None) -> None:
        super().__init__(init_cfg)
        for name, value in dict(num_classes=num_classes, in_channels=in_channels, num_centers=num_centers).items():
            if value < 1:
                raise ValueError(f'{type(self).__name__}: {name} must be at least 1, got {value}')
        self.num_classes, self.in_channels, self.num_centers = num_classes, in_channels, num_centers
        self.weight = nn.Parameter(draw_prototypes(num_classes, num_centers, in_channels, init_std, seed))
        self.loss_module = MODELS.build(dict(loss, num_classes=num_classes))
        self.loss_module.sum_over_batch, self.loss_module.rows_before = sum_over_ranks, rows_before
        self.bias = nn.Parameter(torch.zeros(num_classes)) if self.loss_module.use_bias else None
        self.engine = MODELS.build(engine)

    def loss(self, embeddings: Tensor, data_samples: FaceDataSample) -> dict[str, Tensor]:
        """The losses of a batch of samples with ``gt_label``; see :meth:`compute_loss`."""
        return self.compute_loss(embeddings, data_samples.gt_label)

    def compute_loss(self, embeddings: Tensor, labels: Tensor, weight: Tensor | None = None, reduction: str = 'mean') -> dict[str, Tensor]:
        """Embeddings and labels to losses, in at least fp32 under any autocast.

        Args:
            embeddings: ``[B, D]``, not normalised.
            labels: int ``[B]`` in ``[0, num_classes)``, or -1 for a row that contributes nothing to loss, statistics or mean.
            weight: factors ``[B]`` of the samples' losses; they do not change the divisor of the mean.
            reduction: ``'mean'`` over the global batch (under DDP the gradient, averaged over ranks, is that of the global mean), or
                ``'none'``.

        Returns:
            ``'mean'``: ``loss``, and ``target_cosine``, the mean cosine (similarity, for raw vectors) to the own prototype, for the log.
            ``'none'``: ``{'loss': [B]}``, 0 where the label is -1.

        Raises:
            ValueError: for a wrong shape, an unknown reduction, or a label outside the range; the message names it.
        """
        if reduction not in ('mean', 'none'):
            raise ValueError(f"reduction must be 'mean' or 'none', got {reduction!r}")
        counted = self._counted(embeddings, labels)
        with torch.autocast(embeddings.device.type, enabled=False):
            dtype = torch.promote_types(torch.promote_types(embeddings.dtype, self.weight.dtype), torch.float32)
            kept, kept_labels = embeddings[counted].to(dtype), labels[counted].long()
            bias = None if self.bias is None else self.bias.to(dtype)
            target, statistic = self.engine(kept, kept_labels, self.weight.to(dtype), bias, self.loss_module, self.num_centers)
            loss = self.loss_module(target, statistic)
            if weight is not None:
                loss = loss * weight[counted].to(dtype)
            if reduction == 'none':
                return dict(loss=loss.new_zeros(len(labels)).masked_scatter(counted, loss))
            # DDP averages the ranks' gradients: with the global count over the number of ranks as divisor the average is the global mean.
            count = sum_over_ranks(counted.sum()).clamp_min(1) / world_size()
            return dict(loss=loss.sum() / count, target_cosine=self._target_cosine(target, kept_labels).sum() / count)

    def release_buffers(self) -> int:
        """Gives back the memory that the engine keeps from step to step, and returns its size in bytes.

        What still uses it, such as ``weight.grad``, stays valid.
        """
        return self.engine.release_buffers()

    def _counted(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Which rows count, bool ``[B]``; raises where shapes or labels are wrong."""
        if embeddings.ndim != 2 or embeddings.shape[1] != self.in_channels or labels.shape != embeddings.shape[:1]:
            raise ValueError(f'{type(self).__name__} needs embeddings [B, {self.in_channels}] and labels [B], got {list(embeddings.shape)} '
                             f'and {list(labels.shape)}')
        outside = (labels < -1) | (labels >= self.num_classes)
        if outside.any():
            at = int(outside.nonzero()[0])
            raise ValueError(f'label {int(labels[at])} of row {at} in the batch is outside [0, {self.num_classes}) (and not -1, "ignore"): '
                             'num_classes of the head and the training set disagree')
        return labels >= 0

    def _target_cosine(self, target: Target, labels: Tensor) -> Tensor:
        similarity = target.similarity.detach()
        if self.bias is not None:
            similarity = similarity - self.bias.detach()[labels]
        loss = self.loss_module
        length = loss.radius if loss.features == 'unit' else target.feature_norm.detach()
        return similarity / (length if loss.prototypes == 'unit' else length * target.prototype_norm.detach())

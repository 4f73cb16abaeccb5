"""The head: prototypes, and what a loss makes of them."""
import torch
from torch import Tensor, nn

from mmface.functional.collective_chain import CollectiveChain
from mmface.functional.collectives import agree, gathered, rows_before, sum_over_ranks, this_rank, world_size
from mmface.registry import MODELS
from mmface.structures import FaceDataSample

from ..losses.face_loss import Target
from .batch_checks import check_range, shape_problem
from .class_shard import ShardSpec, class_range
from .draw_prototypes import draw_prototypes
from .loss_on_shards import LossOnShards
from .sharded_module import ShardedModule


@MODELS.register_module()
class FaceClsHead(ShardedModule):
    """Owns the prototypes of ``num_classes`` identities and turns embeddings and labels into losses.

    Args:
        num_classes: C, the number of identities, at least 1.
        in_channels: D, the embedding size.
        loss: config of a :class:`~mmface.models.losses.FaceLoss`; ``num_classes`` is filled in.
        engine: config of the engine that passes over the classes: ``FusedEngine`` to train with, ``SampledEngine`` for a sample of them, or
            ``DenseEngine``, the plain form.
        num_centers: K prototypes a class (sub-centre ArcFace, ECCV 2020); the closest counts.
        sharded: whether each rank holds a part of the classes only (see :func:`~mmface.models.heads.class_shard.class_range`) and passes
            all ranks' embeddings over it. The results are those of one process with the whole batch. Every rank has the same number of
            rows. Without a process group there is one shard. A DistributedDataParallel around it has to know :meth:`ignored_by_ddp`, which
            :class:`~mmface.models.FaceRecognizer` sees to.
        init_std: standard deviation of the initial prototypes, N(0, init_std).
        seed: of the initial prototypes, which do not depend on anything else.

    Attributes:
        weight: prototypes ``[C * K, D]``, not normalised, the centres of a class contiguous.
        bias: ``[C]``, zero at first, or None where the loss has no use for it.
        loss_module: the loss.
        classes: the range ``(start, stop)`` of classes that this rank holds; C is then their number wherever a tensor's shape is meant.
        shard_spec: see :class:`~mmface.models.heads.sharded_module.ShardedModule`; empty unless ``sharded``.
        shards_are_saved: whether a hook has seen to it that checkpoints have the shards of all ranks.
    """
    needs_feature_map = False
    shards_are_saved = False

    def __init__(self,
                 num_classes: int,
                 in_channels: int,
                 loss: dict,
                 engine: dict = dict(type='DenseEngine'),
                 num_centers: int = 1,
                 sharded: bool = False,
                 init_std: float = 0.01,
                 seed: int = 0,
                 init_cfg: dict | None = None) -> None:
        super().__init__(init_cfg)
        for name, value in dict(num_classes=num_classes, in_channels=in_channels, num_centers=num_centers).items():
            if value < 1:
                raise ValueError(f'{type(self).__name__}: {name} must be at least 1, got {value}')
        self.num_classes, self.in_channels, self.num_centers = num_classes, in_channels, num_centers
        self.sharded, self._shards = sharded, world_size() if sharded else 1
        self.classes = start, stop = class_range(num_classes, this_rank() if sharded else 0, self._shards)
        self.weight = nn.Parameter(draw_prototypes(start, stop, num_centers, in_channels, init_std, seed))
        self.loss_module = MODELS.build(dict(loss, num_classes=num_classes))
        if not sharded:  # otherwise it sees the rows of all ranks
            self.loss_module.sum_over_batch, self.loss_module.rows_before = sum_over_ranks, rows_before
        self.bias = nn.Parameter(torch.zeros(stop - start)) if self.loss_module.use_bias else None
        self.engine = MODELS.build(engine)
        self.engine.first_class = start
        self._mark_sharded(weight=num_centers, **({} if self.bias is None else dict(bias=1)))

    def loss(self, embeddings: Tensor, data_samples: FaceDataSample) -> dict[str, Tensor]:
        """The losses of a batch of samples with ``gt_label``; see :meth:`compute_loss`.

        Raises:
            RuntimeError: in a training that would lose the shards of all ranks but one, because no hook saves them.
        """
        if self.training and world_size() > 1 and self.sharded and not self.shards_are_saved:
            raise RuntimeError(f'{type(self).__name__} is sharded over {world_size()} ranks, and no hook saves the shards of all of them: '
                               "the checkpoints would have no prototypes. Use default_hooks=dict(checkpoint=dict(type="
                               "'AtomicCheckpointHook', ...))")
        return self.compute_loss(embeddings, data_samples.gt_label)

    def compute_loss(self, embeddings: Tensor, labels: Tensor, weight: Tensor | None = None, reduction: str = 'mean') -> dict[str, Tensor]:
        """Embeddings and labels to losses, in at least fp32 under any autocast.

        Args:
            embeddings: ``[B, D]``, not normalised; of a sharded head, the same B on all ranks.
            labels: int ``[B]`` in ``[0, num_classes)``, or -1 for a row that contributes nothing to loss, statistics or mean.
            weight: factors ``[B]`` of the samples' losses; they do not change the divisor of the mean.
            reduction: ``'mean'`` over the global batch (under DDP the gradient, averaged over ranks, is that of the global mean), or
                ``'none'``.

        Returns:
            ``'mean'``: ``loss``, and ``target_cosine``, the mean cosine (similarity, for raw vectors) to the own prototype, for the log.
            ``'none'``: ``{'loss': [B]}``, 0 where the label is -1.

        Raises:
            ValueError: for a wrong shape, an unknown reduction, or a label outside the range; the message names it. Of a sharded head, on
                all ranks where it happens on one, and where ranks disagree on sizes.
        """
        self._check(embeddings, labels, weight, reduction)
        with torch.autocast(embeddings.device.type, enabled=False):
            dtype = torch.promote_types(torch.promote_types(embeddings.dtype, self.weight.dtype), torch.float32)
            if not self.sharded:
                check_range(labels, self.num_classes)
                return self._losses(embeddings.to(dtype), labels.long(), weight, reduction, None)
            everyones = gathered(labels.long())
            check_range(everyones, self.num_classes, world_size())
            chain = CollectiveChain(embeddings.device)
            weight = None if weight is None else chain.gather(weight, dtype)
            losses = self._losses(chain.gather(embeddings, dtype), everyones, weight, reduction, chain)
            return losses if reduction == 'mean' else dict(loss=losses['loss'][this_rank()::world_size()])

    def ignored_by_ddp(self) -> list[str]:
        """The parameters and buffers that DistributedDataParallel must leave alone, for its ``_ddp_params_and_buffers_to_ignore``.

        Those of which every rank has its own part, and those whose gradient the head has summed over the ranks already.
        """
        if self.sharded:
            return [*self.shard_spec, *(f'loss_module.{name}' for name, _ in self.loss_module.named_parameters())]
        return ['weight', 'bias'] if self.engine.row_sparse else []

    def release_buffers(self) -> int:
        """Gives back the memory that the engine keeps from step to step, and returns its size in bytes.

        What still uses it, such as ``weight.grad``, stays valid.
        """
        return self.engine.release_buffers()

    def _losses(self, embeddings: Tensor, labels: Tensor, weight: Tensor | None, reduction: str,
                chain: CollectiveChain | None) -> dict[str, Tensor]:
        """:meth:`compute_loss` of the rows of this rank or, where there is a chain, of those of all ranks; at least fp32."""
        counted = labels >= 0
        kept, own_labels = embeddings[counted], self._own_classes(labels[counted])
        loss_module = self.loss_module if chain is None else LossOnShards(self.loss_module, chain)
        bias = None if self.bias is None else self.bias.to(kept.dtype)
        target, statistic = self.engine(kept, own_labels, self.weight.to(kept.dtype), bias, loss_module, self.num_centers)
        loss = loss_module(target, statistic)
        if weight is not None:
            loss = loss * weight[counted].to(kept.dtype)
        if reduction == 'none':
            return dict(loss=loss.new_zeros(len(labels)).masked_scatter(counted, loss))
        cosine = self._target_cosine(target, own_labels).sum()
        if chain is not None:
            count, cosine = counted.sum().clamp_min(1), sum_over_ranks(cosine)
        else:  # DDP averages the ranks' gradients: with the global count over their number as divisor the average is the global mean.
            count = sum_over_ranks(counted.sum()).clamp_min(1) / world_size()
        return dict(loss=loss.sum() / count, target_cosine=cosine / count)

    def _own_classes(self, labels: Tensor) -> Tensor:
        """Labels as places among the classes of this rank, -1 where it does not hold the class."""
        start, stop = self.classes
        return torch.where((labels >= start) & (labels < stop), labels - start, -1)

    def _check(self, embeddings: Tensor, labels: Tensor, weight: Tensor | None, reduction: str) -> None:
        """Raises for arguments that do not fit; if sharded, on all ranks where it would on one, and where they are not alike."""
        problem = shape_problem(type(self).__name__, self.in_channels, embeddings, labels, weight, reduction)
        if not self.sharded:
            if problem is not None:
                raise ValueError(problem)
            return
        if self._shards != world_size():
            problem = (f'{type(self).__name__} was built as one of {self._shards} shards and is used on {world_size()} ranks: start the '
                       'process group before the model is built')
        alike = {name: getattr(self, name) for name in ('num_classes', 'in_channels', 'num_centers', 'training')}
        alike |= {'the number of rows': labels.numel(), 'the number of weights': 0 if weight is None else weight.numel(),
                  'the size of a value': embeddings.itemsize, "reduction='none'": reduction == 'none',
                  'a gradient of embeddings': embeddings.requires_grad and torch.is_grad_enabled()}
        agree(problem, alike, embeddings.device)

    def _mark_sharded(self, **rows: int) -> None:
        """Says which parameters and buffers hold so many rows for each class of this rank, if sharded."""
        start, stop = self.classes
        if self.sharded:
            self.shard_spec |= {name: ShardSpec(self.num_classes * each, start * each, stop * each) for name, each in rows.items()}

    def _target_cosine(self, target: Target, labels: Tensor) -> Tensor:
        """Of the rows whose class is here, 0 elsewhere."""
        here, similarity = labels >= 0, target.similarity.detach()
        if self.bias is not None and len(self.bias):
            similarity = similarity - self.bias.detach()[labels.clamp_min(0)]
        loss = self.loss_module
        length = loss.radius if loss.features == 'unit' else target.feature_norm.detach()
        return (similarity / (length if loss.prototypes == 'unit' else length * target.prototype_norm.detach())).where(here, 0.)

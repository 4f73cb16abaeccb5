"""The fast pass over the classes."""
from logging import INFO

import torch
from mmengine.logging import print_log
from torch import Tensor

from mmface.functional.unit import unit
from mmface.registry import MODELS

from ..losses.face_loss import FaceLoss, Target
from ..losses.statistics import Statistic
from .class_chunks import default_size, split
from .class_pass import ClassPass
from .engine import Engine
from .lent_memory import LentMemory
from .plan import Mix, Plan
from .products import DTYPES, Products
from .rows import AllRows, Rows, TakeRows
from .translate import translate

MIB = 2**20
MODES = ('auto', 'store', 'recompute')


@MODELS.register_module()
class FusedEngine(Engine):
    """Goes through the classes in chunks that stay in cache, with a hand-written backward pass; see docs/engine.md.

    Besides the gradient of the prototypes, whose memory it keeps from step to step, it needs one C x B buffer or none. It is exact: only
    the order of summation differs from that of :class:`~mmface.models.DenseEngine`. It gives first derivatives only.

    Args:
        mode: ``'store'``: one C x B buffer and three matrix products, as many as a linear layer; ``'recompute'``: no buffer, four products;
            ``'auto'``: the first where the buffer fits the budget. The log says once which.
        chunk_size: classes in a chunk, at least 1; by default as many as stay in cache.
        memory_budget: MiB for the C x B buffer in mode ``'auto'``. What the machine has free plays no part: runs stay comparable.
        compute_dtype: ``'bfloat16'`` or ``'float16'``: what factors of matrix products are rounded to, for GPUs that multiply such numbers
            faster; all else, sums of products included, stays fp32. docs/engine.md has the error. None: nothing is rounded.
    """

    def __init__(self,
                 mode: str = 'auto',
                 chunk_size: int | None = None,
                 memory_budget: float = 1024.,
                 compute_dtype: str | None = None) -> None:
        super().__init__()
        if mode not in MODES:
            raise ValueError(f'{type(self).__name__}: mode must be one of {MODES}, got {mode!r}')
        if chunk_size is not None and chunk_size < 1:
            raise ValueError(f'{type(self).__name__}: chunk_size must be at least 1, got {chunk_size}')
        if not memory_budget >= 0:
            raise ValueError(f'{type(self).__name__}: memory_budget is in MiB and not negative, got {memory_budget}')
        if compute_dtype is not None and compute_dtype not in DTYPES:
            raise ValueError(f'{type(self).__name__}: compute_dtype must be None or one of {sorted(DTYPES)}, got {compute_dtype!r}')
        self.mode, self.chunk_size, self.memory_budget = mode, chunk_size, memory_budget
        self._buffer, self._gradient = LentMemory(), LentMemory()
        self._products = Products(None if compute_dtype is None else DTYPES[compute_dtype])
        self._told = False

    def forward(self,
                embeddings: Tensor,
                labels: Tensor,
                weight: Tensor,
                bias: Tensor | None,
                loss: FaceLoss,
                num_centers: int = 1,
                mix: Mix | None = None) -> tuple[Target, Tensor | None]:
        return self._pass(embeddings, labels, weight, bias, loss, num_centers, mix, AllRows())

    def release_buffers(self) -> int:
        return self._buffer.release() + self._gradient.release()

    @torch.compiler.disable  # chunk by chunk there is nothing to fuse, and autograd is asked for derivatives on the way
    def _pass(self, embeddings: Tensor, labels: Tensor, weight: Tensor, bias: Tensor | None, loss: FaceLoss, num_centers: int,
              mix: Mix | None, rows: Rows) -> tuple[Target, Tensor | None]:
        """:meth:`forward` over the prototypes ``rows`` of ``weight``; ``labels`` and ``bias`` are those of the classes that take part."""
        num_classes = rows.count(weight) // num_centers
        if num_classes == 0:  # parameters get a gradient nonetheless, without rows: an optimiser that counts its steps counts this one
            none, _ = TakeRows.apply(weight, rows, labels[:0])
            return self.without_classes(embeddings + none.sum(0) + (0 if bias is None else bias.sum()), loss)
        unit_features, feature_norm = unit(embeddings)
        features = unit_features * loss.radius if loss.features == 'unit' else embeddings
        here, known = labels >= 0, labels.clamp_min(0)
        centers = known.unsqueeze(1) * num_centers + torch.arange(num_centers, device=labels.device)
        own, weight = TakeRows.apply(weight, rows, centers.flatten())
        own = own if mix is None else mix(own, rows.numbers(weight, centers.flatten()))
        similarity, prototype_norm = _closest(features, own.unflatten(0, centers.shape), loss.prototypes == 'unit')
        if bias is not None:
            similarity = similarity + bias[known]

        def statistic(spec: Statistic) -> Tensor:
            task = translate(spec, features, bias)
            size = self.chunk_size or default_size(features, by_autograd=task.negatives.fn is not None)
            chunks = list(split(num_classes, labels, num_centers, size))
            wanted = torch.is_grad_enabled() and any(t.requires_grad for t in (task.features, weight, *task.params))
            store = self._buffer if wanted and self._stores(num_classes * len(labels) * features.itemsize) else None
            plan = Plan(rows, chunks, task.negatives, num_centers, loss.prototypes == 'unit', mix, store, self._gradient,
                        self._products)
            return ClassPass.apply(task.features, weight, task.bias, plan, *task.params)

        target = Target(
            similarity=similarity.where(here, 0.),
            feature_norm=feature_norm,
            prototype_norm=prototype_norm.where(here, 0.),
            statistic=torch.no_grad()(statistic))
        spec = loss.prepare(target)
        return target, None if spec is None else statistic(spec)

    def _stores(self, size: int) -> bool:
        """Whether a C x B buffer of ``size`` bytes is used."""
        if self.mode != 'auto':
            return self.mode == 'store'
        fits = size <= self.memory_budget * MIB
        if not self._told:
            print_log(f'{type(self).__name__} picks mode {"store" if fits else "recompute"!r}: its buffer of {size / MIB:.0f} MiB is '
                      f'{"within" if fits else "beyond"} memory_budget={self.memory_budget:g}', 'current', INFO)
            self._told = True
        return fits


def _closest(features: Tensor, own: Tensor, unit_prototypes: bool) -> tuple[Tensor, Tensor]:
    """The similarity of rows ``[B, D]`` to the closest prototype of their class, of ``[B, K, D]``, and the norm of that, both ``[B]``."""
    directions, norm = unit(own.flatten(0, 1))
    prototypes = directions.view_as(own) if unit_prototypes else own
    similarity, center = (prototypes * features.unsqueeze(1)).sum(2).max(1)
    return similarity, norm.view(own.shape[:2]).gather(1, center.unsqueeze(1)).squeeze(1)

"""What a head costs a rank: its tensors counted, the memory and traffic of a step measured on few classes and carried on to many."""
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mmface.models.engines.class_chunks import CHUNK, CPU_CHUNK
from mmface.registry import MODELS
from mmface.utils.peak_allocated import peak_allocated

from .echo_ranks import Traffic, echo_ranks

#: Classes that take part in a measured step, and rows of its global batch; both are doubled once.
CLASSES, ROWS = 2048, 64
MIB = 2**20


@dataclass(frozen=True)
class HeadCost:
    """Of one rank, in bytes.

    Attributes:
        weights: prototypes and whatever else of the head grows with the classes (biases, VPL's memory), and BroadFace's queue.
        trained: those that the optimiser has state for.
        gradient: of what is trained, as one step makes it.
        buffers: of a step besides the gradient: the C x B buffer, the gathered batch, the chunk that is worked on.
        drawn: the gradient's rows where it is row-sparse, else 0.
        traffic: what is handed to collective operations in a step.
    """
    weights: int
    trained: int
    gradient: int
    buffers: int
    drawn: int
    traffic: int


class HeadMeter:
    """Measures what a head costs the first rank, whose share of a sharded one is the largest.

    Memory and traffic of a step are products of sums, ``(a + b C) (c + d B)``: four small steps give the four coefficients.

    Args:
        config: the head's; ``num_classes`` does not matter.
        ranks: W.
        dtype: of the embeddings, in mixed precision.
        device: ``'cuda'`` or ``'cpu'``: where the training is to run; the measurement is on the CPU.
    """

    def __init__(self, config: Mapping[str, Any], ranks: int, dtype: torch.dtype | None, device: str) -> None:
        self.config, self.ranks, self.dtype, self.device = config, ranks, dtype, device
        self.shards = ranks if config['sharded'] else 1
        self.ratio = config['engine'].get('ratio', 1.)
        self.few = [round(CLASSES * k / self.ratio) for k in (1, 2)]
        self.rows = [max(1, ROWS // self.shards) * k for k in (1, 2)]
        self._steps: dict[str | None, list[list[_Step]]] = {}

    def cost(self, classes: int, batch: int) -> HeadCost:
        """Of a head of ``classes`` in all, with ``batch`` images on each rank."""
        own = -(-classes // self.shards)
        sizes = [_sizes(_build(self.config, n)) for n in (2, 3)]
        weights, trained = (_line((2, 3), pair, own) for pair in zip(*sizes, strict=True))
        steps = self._measured(_mode(self.config, round(own * self.ratio), batch * self.shards))

        def at(what: Callable[[_Step], int], own: int = own, batch: int = batch) -> int:
            return max(0, _line(self.few, [_line(self.rows, [what(step) for step in line], batch) for line in steps], own))

        gradient, buffers = at(lambda s: s.gradient), at(lambda s: s.peak - s.gradient)
        if self.device != 'cpu':  # chunks are larger
            buffers += at(lambda s: s.peak - s.gradient, own=0, batch=0) * (CHUNK // CPU_CHUNK - 1)
        return HeadCost(weights, trained, gradient, buffers, at(lambda s: s.drawn), at(lambda s: s.traffic))

    def _measured(self, mode: str | None) -> 'list[list[_Step]]':
        """Steps of few and of twice as many classes, each with few rows and with twice as many."""
        if mode not in self._steps:
            classes = [few * self.shards for few in self.few]
            self._steps[mode] = [[_Step(self.config, n, b, self.ranks, self.dtype, mode) for b in self.rows] for n in classes]
        return self._steps[mode]


class _Step:
    """A training step of a head of ``classes``, on ``batch`` rows of each rank."""

    def __init__(self, config: Mapping[str, Any], classes: int, batch: int, ranks: int, dtype: torch.dtype | None, mode: str | None):
        with echo_ranks(ranks) if ranks > 1 else nullcontext(Traffic()) as traffic:
            head = _build(config, classes)
            if mode is not None:
                _engine(head).mode = mode
            _past_its_beginning(head, classes)
            generator = torch.Generator().manual_seed(0)
            embeddings = torch.randn(batch, head.in_channels, generator=generator).to(dtype).requires_grad_()
            labels = torch.randint(classes, (batch, ), generator=generator)
            traffic.calls.clear()

            def step() -> None:
                head.compute_loss(embeddings, labels)['loss'].backward()

            self.peak = peak_allocated(step)
        gradients = [p.grad for p in head.parameters() if p.grad is not None]
        self.traffic = traffic.total
        self.gradient = sum(_bytes(g) for g in gradients)
        self.drawn = sum(len(g._values()) for g in gradients if g.is_sparse)


def _build(config: Mapping[str, Any], classes: int) -> Any:
    return MODELS.build(dict(config, num_classes=classes)).train()


def _engine(head: Any) -> Any:
    """The engine that passes over the classes, out of what it may be wrapped in."""
    engine = head.engine
    while hasattr(engine, 'engine'):
        engine = engine.engine
    return engine


def _mode(config: Mapping[str, Any], classes: int, batch: int) -> str | None:
    """Whether the engine stores its C x B buffer at the full size, which the few classes of a measurement would not tell."""
    engine = _engine(_build(config, 2))
    mode = getattr(engine, 'mode', None)
    if mode != 'auto':
        return mode
    return 'store' if 4 * classes * batch <= engine.memory_budget * MIB else 'recompute'


def _past_its_beginning(head: Any, classes: int) -> None:
    """Takes a head that does something else for its first batches beyond them, and fills its queue."""
    head.start_iter = 0
    if hasattr(head, 'queue_labels'):
        head.queue_labels.random_(classes)
        head.queue_embeddings.normal_()
        head.queue_prototypes.normal_()


def _sizes(head: Any) -> tuple[int, int]:
    """Bytes of all tensors, and of those that are trained."""
    tensors: Iterable[Tensor] = (*head.parameters(), *head.buffers())
    return sum(t.nbytes for t in tensors), sum(p.nbytes for p in head.parameters() if p.requires_grad)


def _bytes(gradient: Tensor) -> int:
    return gradient._values().nbytes + gradient._indices().nbytes if gradient.is_sparse else gradient.nbytes


def _line(x: Iterable[int], y: Iterable[int], at: int) -> int:
    """The value at ``at`` of the line through two points."""
    (x0, x1), (y0, y1) = x, y
    return round(y0 + (y1 - y0) / (x1 - x0) * (at - x0))

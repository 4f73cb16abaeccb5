"""Memory and traffic of one rank."""
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from .backbone_cost import BackboneCost
from .head_cost import HeadCost
from .layout import Layout
from .optimizer_cost import OptimizerCost


@dataclass(frozen=True)
class RankCost:
    """Bytes of one rank in one layout.

    Attributes:
        layout: which.
        memory: by what it is for.
        traffic: what is handed to collective operations in a step, by what for.
        head_share: products of the head in a step, over those of backbone and neck.
    """
    layout: Layout
    memory: dict[str, int]
    traffic: dict[str, int]
    head_share: float

    @property
    def peak(self) -> int:
        """Most bytes at once: activations are gone when the backbone's gradients and the optimiser's temporaries are all there."""
        late = self.memory['backbone gradients'] + self.memory['optimiser temporaries']
        return sum(self.memory.values()) - min(self.memory['activations'], late)

    def as_dict(self) -> dict[str, Any]:
        return dict(
            sharded=self.layout.sharded, sampled=self.layout.sampled, memory=self.memory, peak=self.peak, traffic=self.traffic,
            head_share=self.head_share)


def rank_cost(layout: Layout, backbone: BackboneCost, head: HeadCost, optimizer: OptimizerCost, ranks: int, batch: int,
              accumulated: int, hooks: Collection[str]) -> RankCost:
    """Adds up what the parts cost.

    Args:
        layout: of the head.
        backbone: what an image costs it.
        head: what a step costs it in this layout.
        optimizer: copies of what is trained.
        ranks: W.
        batch: images of a rank.
        accumulated: batches for one update.
        hooks: types of the hooks: MMEngine's EMAHook keeps a copy of the model, FaceEMAHook one without the prototypes.
    """
    gradient = head.gradient * (1 if accumulated == 1 else 2 * accumulated if head.drawn else 2)
    averaged = 0 if layout.sharded or head.drawn else head.trained  # by DistributedDataParallel
    stepped = head.gradient if head.drawn else head.trained
    stand_ins = stepped * (1 + optimizer.state) if head.drawn else 0
    memory = {
        'backbone': backbone.weights,
        'head': head.weights,
        'optimiser state': round(optimizer.state * (backbone.gradients + head.trained)),
        'averaged copy': backbone.weights * bool({'EMAHook', 'FaceEMAHook'} & set(hooks)) + head.weights * ('EMAHook' in hooks),
        "DDP's buckets": (backbone.gradients + averaged) * (ranks > 1),
        'head gradient': gradient,
        'engine': head.buffers,
        'activations': batch * (backbone.activations + backbone.working_set) + backbone.copies,
        'backbone gradients': backbone.gradients,
        'optimiser temporaries': round(optimizer.temporaries * (backbone.gradients + stepped) + stand_ins),
    }
    traffic = {'backbone gradients': backbone.gradients, 'head gradient': averaged, 'head': head.traffic}
    rows = batch * ranks if layout.sharded else batch
    products = 6 * rows * stepped / 4
    return RankCost(layout, memory, traffic if ranks > 1 else dict.fromkeys(traffic, 0), products / (3 * batch * backbone.flops))

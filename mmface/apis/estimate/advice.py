"""Which layout to train in, and why."""
from collections.abc import Sequence
from dataclasses import dataclass

from .rank_cost import RankCost

#: The share of a GPU's memory that is planned with; the rest is for CUDA, NCCL and what allocators cannot use.
USABLE = .9
GIB, MIB = 2**30, 2**20


@dataclass(frozen=True)
class Advice:
    """What to train with.

    Attributes:
        layout: name of the layout, or None where none fits.
        why: sentences.
    """
    layout: str | None
    why: tuple[str, ...]


def advise(costs: Sequence[RankCost], gpus: int, gpu_memory: float) -> Advice:
    """Chooses among the layouts of one config.

    The plainest one that fits, except that shards are preferred where the whole head's gradient would be more on the wire, and a sample
    where the products with all classes would be more than those of the backbone.

    Args:
        costs: of the layouts, the plainest first.
        gpus: W.
        gpu_memory: of one GPU, in GiB.
    """
    budget = USABLE * gpu_memory * GIB
    by_name = {cost.layout.name: cost for cost in costs}
    why = [f'{name}: {cost.peak / GIB:.1f} GiB a rank, more than {USABLE:.0%} of {gpu_memory:g} GiB' for name, cost in by_name.items()
           if cost.peak > budget]
    fitting = [cost for cost in costs if cost.peak <= budget]
    if not fitting:
        return Advice(None, (*why, f'none fits: take more than {gpus} GPUs, a smaller batch or a smaller network'))
    chosen = fitting[0]
    sharded, sampled = by_name.get('sharded'), by_name['sampled']
    if chosen.layout.name == 'whole' and sharded in fitting and sharded is not None and _wire(sharded) < _wire(chosen):
        why.append(f'whole: the gradient of the prototypes, {chosen.traffic["head gradient"] / MIB:,.1f} MiB, is averaged over the '
                   f'ranks in every step; shards exchange {sharded.traffic["head"] / MIB:,.1f} MiB')
        chosen = sharded
    if chosen is not sampled and sampled in fitting and chosen.head_share > 1:
        why.append(f'{chosen.layout.name}: products with all classes are {chosen.head_share:.1f} times those of the backbone; '
                   f'a sample makes them {sampled.head_share:.1f}')
        chosen = sampled
    return Advice(chosen.layout.name, tuple(why) or (f'{chosen.layout.name}: it fits, and nothing is plainer', ))


def _wire(cost: RankCost) -> int:
    return sum(cost.traffic.values())

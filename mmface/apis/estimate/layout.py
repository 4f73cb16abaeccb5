"""How a head is spread over the ranks."""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: The share of classes that is drawn in a step where the config names none.
RATIO = .1


@dataclass(frozen=True)
class Layout:
    """One of the ways to train the same config.

    Attributes:
        name: for the table.
        sharded: whether each rank has its part of the classes, rather than a copy of all.
        sampled: whether a step passes over some of the classes only.
    """
    name: str
    sharded: bool
    sampled: bool

    def head(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The head's config in this layout."""
        engine = dict(config.get('engine') or dict(type='DenseEngine'))
        is_sampled = str(engine['type']).endswith('SampledEngine')
        if self.sampled and not is_sampled:
            engine = dict(_of_fused(engine), type='SampledEngine', ratio=RATIO)
        elif is_sampled and not self.sampled:
            engine = dict(_of_fused(engine), type='FusedEngine')
        return dict(config, engine=engine, sharded=self.sharded)


def layouts(gpus: int) -> list[Layout]:
    """Those that are worth a look on so many GPUs, the plainest first; one GPU has nothing to shard."""
    if gpus == 1:
        return [Layout('whole', False, False), Layout('sampled', False, True)]
    return [Layout('whole', False, False), Layout('sharded', True, False), Layout('sampled', True, True)]


def _of_fused(engine: Mapping[str, Any]) -> dict[str, Any]:
    return {key: engine[key] for key in ('mode', 'chunk_size', 'memory_budget', 'compute_dtype') if key in engine}

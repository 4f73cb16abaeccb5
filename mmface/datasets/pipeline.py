"""A list of transforms as one function."""
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mmface.registry import TRANSFORMS

from .seeding import GENERATORS


def build_pipeline(transforms: Sequence[dict | Callable]) -> 'Pipeline':
    """Builds what is a config, keeps what is callable, and chains them. The result can be pickled."""
    return Pipeline([transform if callable(transform) else TRANSFORMS.build(transform) for transform in transforms])


class Pipeline:
    """Calls transforms one after the other.

    Unlike MMEngine's ``Compose`` it looks names up in this package's registry, whatever the default scope, and ``None`` from a transform is
    no wish for another sample: that would change the data silently.

    Attributes:
        draws_from: the global generators that any of the transforms may draw from; all of them for a transform that does not say.
        packs_batches: whether the last transform can pack a whole batch at once, as ``PackFace`` can.
    """

    def __init__(self, transforms: Sequence[Callable]) -> None:
        self.transforms = list(transforms)
        self.draws_from = frozenset().union(*(getattr(transform, 'draws_from', GENERATORS) for transform in transforms))
        last = self.transforms[-1] if self.transforms else None
        self._pack_batch: Callable[[int, Iterable], Sequence] | None = getattr(last, 'pack_batch', None)
        self.packs_batches = self._pack_batch is not None
        self._before_packing = self.transforms[:-1] if self.packs_batches else self.transforms

    def __call__(self, results: dict) -> Any:
        return self.pack(self.prepare(results))

    def prepare(self, results: Any) -> Any:
        """All that is done to one image before it is packed."""
        for transform in self._before_packing:
            results = transform(results)
        return results

    def pack(self, results: Any) -> Any:
        """What :meth:`prepare` gave, packed."""
        return self.transforms[-1](results) if self.packs_batches else results

    def pack_batch(self, size: int, results: Iterable) -> Sequence:
        """What :meth:`prepare` gave of ``size`` images, packed together where the last transform can, else one by one."""
        return list(results) if self._pack_batch is None else self._pack_batch(size, results)

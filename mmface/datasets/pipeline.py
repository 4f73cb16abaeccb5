"""A list of transforms as one function."""
from collections.abc import Callable, Sequence
from typing import Any

from mmface.registry import TRANSFORMS


def build_pipeline(transforms: Sequence[dict | Callable]) -> Callable[[dict], Any]:
    """Builds what is a config, keeps what is callable, and chains them. The result can be pickled."""
    return Pipeline([transform if callable(transform) else TRANSFORMS.build(transform) for transform in transforms])


class Pipeline:
    """Calls transforms one after the other.

    Unlike MMEngine's ``Compose`` it looks names up in this package's registry, whatever the default scope, and ``None`` from a transform is
    no wish for another sample: that would change the data silently.
    """

    def __init__(self, transforms: Sequence[Callable]) -> None:
        self.transforms = list(transforms)

    def __call__(self, results: Any) -> Any:
        for transform in self.transforms:
            results = transform(results)
        return results

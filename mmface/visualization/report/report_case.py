"""One model on one set, as the report wants it."""
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ReportCase:
    """What a protocol said, and what it said it from. What is None is not drawn.

    Attributes:
        model: the name of the model.
        result: of a protocol: plain numbers, strings, lists and dicts; ``result['set']`` names the set.
        similarity: [N] scores of the pairs.
        same: bool [N], whether a pair is genuine.
        quality: [N], the lower feature norm of the two images or templates of each pair.
        images: row of ``similarity`` -> the two images that were compared, uint8 RGB [H, W, 3] each.
    """
    model: str
    result: dict
    similarity: np.ndarray | None = None
    same: np.ndarray | None = None
    quality: np.ndarray | None = None
    images: Callable[[int], tuple[np.ndarray, np.ndarray]] | None = None

    @property
    def set(self) -> str:
        """The name of the set."""
        return self.result['set']

    @property
    def scores(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The scores of genuine and of impostor pairs."""
        if self.similarity is None or self.same is None:
            return None
        return self.similarity[self.same], self.similarity[~self.same]

    @property
    def rated(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The scores of genuine pairs and their qualities."""
        if self.similarity is None or self.same is None or self.quality is None:
            return None
        return self.similarity[self.same], self.quality[self.same]

    @property
    def threshold(self) -> float | None:
        """The threshold that pictures use: that of the result, else the strictest resolvable operating point's."""
        if 'threshold' in self.result:
            return float(self.result['threshold'])
        points = [point for point in self.result.get('tar_at_far', []) if point['resolvable']]
        return float(min(points, key=lambda point: point['far_target'])['similarity']) if points else None

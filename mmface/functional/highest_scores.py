"""The highest scores of a stream that is too long to keep."""
import numpy as np

from .cosine_block import CosineBlock


class HighestScores:
    """The ``count`` highest exact cosines of all blocks that were added, and how many cosines there were."""

    def __init__(self, count: int) -> None:
        self.count, self.seen = count, 0
        self._parts: list[np.ndarray] = []
        self._bar = -np.inf

    def add(self, block: CosineBlock) -> None:
        """Takes the cosines of a block, those of -inf left out."""
        cosine = block.approximate
        self.seen += cosine.size - np.count_nonzero(np.isneginf(cosine))
        bar = np.maximum(np.float32(self._bar) - block.error, np.finfo(np.float32).min)
        self._parts.append(block.exact(*block.places(cosine >= bar)))
        if sum(map(len, self._parts)) > 2 * self.count:
            self._parts = [self.falling()]
            self._bar = self._parts[0][-1]

    def falling(self) -> np.ndarray:
        """The highest so far, float64, falling; fewer than ``count`` where there were not so many."""
        scores = np.concatenate([np.empty(0), *self._parts])
        if len(scores) > self.count:
            scores = np.partition(scores, len(scores) - self.count)[-self.count:]
        return np.sort(scores)[::-1]

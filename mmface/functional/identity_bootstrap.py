"""What chance would have made of a set of pairs, had it met other people.

Pairs that share a person are not independent, people are: so people are drawn with replacement, as many as there are, and a pair stands in
the drawn set as often as both its people were drawn together: the product of their multiplicities. A pair within one person stands there
once for every time that the person was drawn; the pairs between two draws of one person, which duplication creates, are left out. For pairs
of two people this is the vertex bootstrap of T. A. B. Snijders and S. P. Borgatti (Connections 22, 1999); R. Fogliato, P. Patil and
P. Perona (2023, https://arxiv.org/abs/2306.01198) find both to cover what intervals over pairs do not.
"""
from collections.abc import Iterator, Sequence

import numpy as np


class IdentityBootstrap:
    """Weights of N pairs in R drawn sets of people.

    Args:
        first: N names, or numbers, of the person in the first image of each pair.
        second: likewise of the second image.
        replicates: R.
        seed: of the draws. The same seed draws the same people for every model.

    Attributes:
        people: how many people the pairs name.

    Raises:
        ValueError: fewer than two replicates.
    """

    def __init__(self, first: Sequence, second: Sequence, replicates: int, seed: int = 0) -> None:
        if replicates < 2:
            raise ValueError(f'a bootstrap needs at least 2 replicates, got {replicates}')
        names, rows = np.unique(np.concatenate([first, second]), return_inverse=True)
        self.people, self.replicates, self.seed = len(names), replicates, seed
        self._first, self._second = rows.reshape(2, -1)
        self._within = self._first == self._second

    def blocks(self, size: int) -> Iterator[np.ndarray]:
        """The weights, float64 whole numbers [up to ``size``, N] at a time; the numbers do not depend on ``size``."""
        generator = np.random.default_rng(self.seed)
        for start in range(0, self.replicates, size):
            drawn = generator.integers(self.people, size=(min(size, self.replicates - start), self.people))
            times = np.stack([np.bincount(row, minlength=self.people) for row in drawn]).astype(np.float64)
            yield times[:, self._first] * np.where(self._within, 1, times[:, self._second])


def percentile_interval(replicates: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """The middle part of what was drawn; NaN, a set that had no answer, is left out (and an interval of nothing is NaN)."""
    tail = 50 * (1 - confidence)
    if np.isnan(replicates).all():
        return float('nan'), float('nan')
    low, high = np.nanpercentile(replicates, [tail, 100 - tail])
    return float(low), float(high)

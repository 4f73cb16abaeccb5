"""TAR at a FAR over all pairs of a set of images, also in many drawn sets of people."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mmface.functional.identity_bootstrap import IdentityBootstrap
from mmface.functional.roc import allowed

_SHARE = 5  #: so many times the FAR of impostors are looked at first: people drawn twice bring more of them
_BLOCK = 64  # drawn sets at a time


class Rates(NamedTuple):
    """``value``: of the people there are; ``draws``: float64 ``[R]``, of the drawn ones, NaN without a pair of a kind."""
    value: float
    draws: np.ndarray


class AllPairs:
    """Genuine pairs as given, impostors all: what a network's similarities say of them.

    People are drawn as :class:`~mmface.functional.identity_bootstrap.IdentityBootstrap` says, the same for every network: a genuine pair
    counts as often as its person was drawn, an impostor pair the product of both. Of the million impostors only the highest matter at a low
    FAR, and their number follows from the draw, so that the others are never weighed.

    Args:
        people: int ``[M]``, who is in each image.
        genuine: int ``[G, 2]``, rows.
        replicates: R.
        seed: of the draws.
    """

    def __init__(self, people: np.ndarray, genuine: np.ndarray, replicates: int, seed: int = 0) -> None:
        names, self.person, self.images = np.unique(people, return_inverse=True, return_counts=True)
        self.genuine = genuine
        bootstrap = IdentityBootstrap(names, names, replicates, seed)  # type: ignore[arg-type]
        first, second = np.triu_indices(len(people), 1)
        apart = self.person[first] != self.person[second]
        self._apart = first[apart], second[apart]
        self._times = np.concatenate([np.ones((1, len(names))), *bootstrap.blocks(_BLOCK)])  # row 0: as they are

    @property
    def impostors(self) -> int:
        """How many impostor pairs there are."""
        return int(_pairs_between(self.images.astype(np.float64)))

    def tar(self, embeddings: np.ndarray, fars: Sequence[float]) -> dict[float, Rates]:
        """The largest TAR whose FAR does not exceed each of ``fars``.

        Args:
            embeddings: float ``[M, D]``, raw.
            fars: fractions.
        """
        unit = embeddings.astype(np.float64)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        scores, first, second = self._impostors(unit.astype(np.float32))
        same = np.einsum('nd,nd->n', *(unit[side].astype(np.float32) for side in self.genuine.T))
        person = self.person[self.genuine[:, 0]]
        head = slice(int(_SHARE * max(fars) * len(scores)) + 1000)
        rates = np.full((len(self._times), len(fars)), np.nan)
        for at, times in enumerate(self._times):
            genuine, impostors = times[person], int(_pairs_between(times * self.images))
            if not genuine.any() or not impostors:
                continue
            most = [allowed(far, impostors) for far in fars]
            accepted = (times[first[head]] * times[second[head]]).cumsum()
            if accepted[-1] <= max(most):
                accepted = (times[first] * times[second]).cumsum()
            for column, limit in enumerate(most):
                stop = int(np.searchsorted(accepted, limit, side='right'))  # the first impostor that may not be accepted
                threshold = scores[stop] if stop < len(scores) else -np.inf
                rates[at, column] = genuine[same > threshold].sum() / genuine.sum()
        return {far: Rates(float(column[0]), column[1:]) for far, column in zip(fars, rates.T, strict=True)}

    def _impostors(self, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores, falling, with the people of each pair."""
        first, second = self._apart
        scores = (unit @ unit.T)[first, second]
        order = np.argsort(-scores)
        return scores[order], self.person[first[order]], self.person[second[order]]


def _pairs_between(images: np.ndarray) -> float:
    """How many pairs of images of two people there are, where the people have so many images each."""
    return float((images.sum()**2 - (images**2).sum()) / 2)

"""Image pairs with their folds: what LFW and its relatives are."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PairSet:
    """N image pairs over M images, without embeddings.

    Attributes:
        name: what results are called after (``'lfw'``).
        paths: M strings that name the images; embeddings come in this order.
        pairs: int64 ``[N, 2]``, rows of ``paths``.
        same: bool ``[N]``, whether pair n shows one person.
        fold: int64 ``[N]``, the fold of pair n, 0 ... F-1.
        identities: M names of people, or None where the set does not name them.
        groups: M names of the group that an image is of (RFW), or None. A pair whose images are of two groups belongs to none.

    Raises:
        ValueError: where the shapes or the ranges above do not hold; the message names the first pair.
    """
    name: str
    paths: Sequence[str]
    pairs: np.ndarray
    same: np.ndarray
    fold: np.ndarray
    identities: Sequence[str] | None = None
    groups: Sequence[str] | None = None

    def __post_init__(self) -> None:
        pairs = np.asarray(self.pairs, np.int64)
        same, fold = np.asarray(self.same, bool), np.asarray(self.fold, np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0:
            raise ValueError(f'{self.name}: pairs must be a non-empty [N, 2], got shape {pairs.shape}')
        if same.shape != (len(pairs), ) or fold.shape != (len(pairs), ):
            raise ValueError(f'{self.name}: {len(pairs)} pairs need as many entries in same and fold, '
                             f'got shapes {same.shape} and {fold.shape}')
        outside = np.flatnonzero(((pairs < 0) | (pairs >= len(self.paths))).any(1))
        if outside.size:
            at = int(outside[0])
            raise ValueError(f'{self.name}: pair {at} names the images {pairs[at].tolist()}, '
                             f'but there are {len(self.paths)}, counted from 0')
        if fold.min() < 0:
            raise ValueError(f'{self.name}: pair {int(fold.argmin())} has the fold {int(fold.min())}; folds count from 0')
        for kind, names in (('identities', self.identities), ('groups', self.groups)):
            if names is not None and len(names) != len(self.paths):
                raise ValueError(f'{self.name}: {len(self.paths)} images but {len(names)} {kind}')
        for field, value in (('pairs', pairs), ('same', same), ('fold', fold)):
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.pairs)

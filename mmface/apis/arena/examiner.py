"""The numbers of a network, from its embeddings of the test images."""
from functools import lru_cache
from pathlib import Path

import numpy as np

from mmface.evaluation.protocols.verification_bootstrap import VerificationBootstrap
from mmface.functional.operating_point import far_text
from mmface.functional.ten_fold import fold_accuracy

from .all_pairs import AllPairs, Rates
from .arena_data import ArenaData
from .compared_pairs import genuine_pairs

FARS = (1e-2, 1e-3)
ACCURACY = 'accuracy'
_RULE = 'exact'  #: thresholds of the listed pairs: of a weak network the literature's grid would blur them


class Examiner:
    """Tests networks on the same pairs and the same drawn people.

    TAR at :data:`FARS` is over all genuine pairs, at most 30 a person, and all impostors; ``accuracy`` over the balanced list, each of its
    ten parts at the threshold that the others choose.

    Args:
        data: has the pairs.
        replicates: drawn sets of people.

    Attributes:
        measures: the names of the numbers.
        genuine, impostors: how many pairs the TAR is over.
    """

    def __init__(self, data: ArenaData, replicates: int) -> None:
        self.listed = data.listed
        pairs = genuine_pairs(data.persons)
        self._all = AllPairs(data.persons, pairs, replicates)
        self._bootstrap = VerificationBootstrap(replicates)
        self.genuine, self.impostors = len(pairs), self._all.impostors
        self.measures = (*(f'TAR@FAR={far_text(far)}' for far in FARS), ACCURACY)
        self.examine = lru_cache(maxsize=None)(self._examine)

    def _examine(self, embeddings: Path) -> dict[str, Rates]:
        """Each of :attr:`measures` of float ``[M, D]`` in a ``.npy`` file."""
        rows = np.load(embeddings, allow_pickle=False)
        if rows.shape[0] != len(self.listed.paths):
            raise ValueError(f'{embeddings}: {rows.shape[0]} embeddings of {len(self.listed.paths)} test images')
        rates = self._all.tar(rows, FARS)
        return dict(zip(self.measures, (*rates.values(), self._accuracy(rows)), strict=True))

    def _accuracy(self, rows: np.ndarray) -> Rates:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cosine = np.einsum('nd,nd->n', *(unit[side].astype(np.float64) for side in self.listed.pairs.T))
        found = fold_accuracy(2 - 2 * cosine, self.listed.same, self.listed.fold, _RULE)
        everything = [np.ones(len(cosine), bool)]
        draws = self._bootstrap.draw(self.listed, cosine, everything, _RULE, ())[ACCURACY]
        return Rates(float((found.correct / found.pairs).mean()), draws)

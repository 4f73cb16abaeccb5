"""What every protocol on pairs of images begins with."""
from abc import ABC, abstractmethod

import numpy as np

from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.flip_rules import FLIP_RULES
from mmface.functional.pair_similarity import pair_similarity
from mmface.structures import PairSet

from .switches import hash_switches


class PairProtocol(ABC):
    """From raw embeddings to the cosines of pairs, and to a result with all the switches behind it.

    Args:
        rule: how a threshold is chosen: ``'grid'``: the literature's squared distances d = 0, 0.01, ... 3.99; ``'exact'``: every distance
            that occurs.
        flip: None for plain embeddings, or how those of an image and of its mirror image become one before normalisation: ``'add'`` (raw
            sum, InsightFace), ``'add_unit'`` (normalised, then added), ``'concatenate'`` (facenet).
        precision: of products and sums, ``'float64'`` or ``'float32'``.

    Raises:
        ValueError: for an unknown value; lists the known ones.
    """
    name: str  #: the ``protocol`` of the switches
    version = 2

    def __init__(self, rule: str = 'grid', flip: str | None = None, precision: str = 'float64') -> None:
        known = dict(rule=('grid', 'exact'), flip=(None, *sorted(FLIP_RULES)), precision=('float64', 'float32'))
        for switch, value in (('rule', rule), ('flip', flip), ('precision', precision)):
            if value not in known[switch]:
                raise ValueError(f'{switch} is {value!r}, expected one of {", ".join(map(repr, known[switch]))}')
        self.rule, self.flip, self.precision = rule, flip, precision

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return dict(
            protocol=self.name, version=self.version, score='cosine', rule=self.rule, flip=self.flip, precision=self.precision)

    @property
    def hash(self) -> str:
        """The fingerprint of :attr:`switches`."""
        return hash_switches(self.switches)

    def similarity(self, pair_set: PairSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> np.ndarray:
        """The cosines of the pairs, float64 [N]; see :meth:`__call__`."""
        rows = EmbeddingRows(embeddings, pair_set.paths, mirrored, self.flip, check=False)
        return pair_similarity(rows, pair_set.pairs, self.precision)

    def __call__(self, pair_set: PairSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> dict:
        """Evaluates the embeddings of a pair set.

        Args:
            pair_set: N pairs over M images.
            embeddings: raw [M, D] in the order of ``pair_set.paths``.
            mirrored: those of the mirrored images, where ``flip`` asks for them.

        Returns:
            What :meth:`judge` finds, beside ``set`` and the numbers of pairs, with ``switches`` and ``protocol_hash``.

        Raises:
            ValueError: a wrong number of embeddings, one that is not finite or has no length, or a set of another make; names it.
        """
        self.check(pair_set)
        return self.judge(pair_set, self.similarity(pair_set, embeddings, mirrored))

    @abstractmethod
    def check(self, pair_set: PairSet) -> None:
        """Raises ``ValueError`` for a set that the protocol cannot use."""

    def judge(self, pair_set: PairSet, similarity: np.ndarray) -> dict:
        """The result, from the cosines [N] of the pairs."""
        genuine = int(pair_set.same.sum())
        return dict(
            set=pair_set.name, pairs=len(pair_set), genuine=genuine, impostors=len(pair_set) - genuine,
            **self.numbers(pair_set, similarity), switches=self.switches, protocol_hash=self.hash)

    @abstractmethod
    def numbers(self, pair_set: PairSet, similarity: np.ndarray) -> dict:
        """What this protocol says."""

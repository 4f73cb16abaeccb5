"""What every protocol on searches begins with."""
from abc import ABC, abstractmethod

import numpy as np

from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.flip_rules import FLIP_RULES
from mmface.functional.ranking import Mates, Ranking, find_mates, rank_mates
from mmface.structures import SearchSet

from .switches import hash_switches


class SearchProtocol(ABC):
    """From raw embeddings to a result with all the switches behind it. Scores are exact float64 cosines, so that ties are ties.

    Args:
        flip: None for plain embeddings, or how those of an image and of its mirror image become one before normalisation: a key of
            :data:`~mmface.functional.flip_rules.FLIP_RULES`.
    """
    name: str  #: the ``protocol`` of the switches
    version = 1

    def __init__(self, flip: str | None = None) -> None:
        if flip not in (None, *FLIP_RULES):
            raise ValueError(f'flip is {flip!r}, expected one of None, {", ".join(map(repr, sorted(FLIP_RULES)))}')
        self.flip = flip

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return dict(protocol=self.name, version=self.version, score='cosine', flip=self.flip)

    @property
    def hash(self) -> str:
        """The fingerprint of :attr:`switches`."""
        return hash_switches(self.switches)

    def __call__(self, search_set: SearchSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> dict:
        """Evaluates the embeddings of a search set.

        Args:
            search_set: probes, gallery and distractors among M images.
            embeddings: raw [M, D] in the order of ``search_set.paths``; may be memory-mapped.
            mirrored: those of the mirrored images, where ``flip`` asks for them.

        Returns:
            What :meth:`numbers` finds, after ``set``, with ``switches`` and ``protocol_hash``.

        Raises:
            ValueError: a wrong number of embeddings, one that is not finite or has no length, or a set of another make; names it.
        """
        self.check(search_set)
        rows = EmbeddingRows(embeddings, search_set.paths, mirrored, self.flip)
        return dict(set=search_set.name, **self.numbers(search_set, rows), switches=self.switches, protocol_hash=self.hash)

    @abstractmethod
    def check(self, search_set: SearchSet) -> None:
        """Raises ``ValueError`` for a set that the protocol cannot use."""

    @abstractmethod
    def numbers(self, search_set: SearchSet, rows: EmbeddingRows) -> dict:
        """What this protocol says."""


def check_mates(search_set: SearchSet) -> None:
    """Raises where a probe has no mate in the gallery, or is in it itself; names the image."""
    alone = ~np.isin(search_set.ids[search_set.probe], search_set.ids[search_set.gallery])
    itself = np.isin(search_set.probe, np.append(search_set.gallery, search_set.distractor))
    for wrong, what in ((alone, 'without mate in the gallery'), (itself, 'that is in the gallery itself')):
        if wrong.any():
            row = int(search_set.probe[wrong][0])
            raise ValueError(f'{search_set.name}: a probe {what}, {search_set.paths[row]} of person {search_set.ids[row]}; there are '
                             f'{wrong.sum()} of {len(wrong)}')


def rank_probes(search_set: SearchSet, rows: EmbeddingRows) -> tuple[Mates, Ranking]:
    """Ranks the mates of all probes among gallery and distractors."""
    mates = find_mates(search_set.ids[search_set.probe], search_set.ids[search_set.gallery])
    return mates, rank_mates(rows.unit(search_set.probe), rows, np.append(search_set.gallery, search_set.distractor), mates)

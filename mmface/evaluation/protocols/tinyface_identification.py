"""Identification of small faces among distractors: TinyFace.

Z. Cheng, X. Zhu, S. Gong, "Low-Resolution Face Recognition", ACCV 2018, https://qmul-tinyface.github.io, and its MATLAB code.
"""
from collections.abc import Sequence

import numpy as np

from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.intervals import wilson_interval
from mmface.functional.normal_interval import normal_interval
from mmface.functional.ranking import Mates, Ranking, cumulative_matches, first_mates
from mmface.functional.retrieval import average_precision
from mmface.structures import SearchSet

from .search_protocol import SearchProtocol, check_mates, rank_probes


class TinyFaceIdentification(SearchProtocol):
    """Ranks of the first mate, and mean average precision, over gallery and distractors together.

    Conventions:

    - Every probe has one or several mates. ``rank{r}`` is the share of probes with one of them within rank r; images of others that score
      the same stand before it, and ``ties`` says how many searches that decides.
    - ``mAP`` is the authors' own, the area under precision over recall by trapezoids; ``mAP_step`` takes the precision where each mate
      stands, as retrieval usually does, and is higher (:func:`~mmface.functional.retrieval.average_precision`).
    - The cosine; the authors' Euclidean distance of unit vectors ranks alike. AdaFace adds the raw mirrored embedding (``flip='add'``).
    - Intervals: Wilson's; of the two means by their standard errors; searches taken as independent.

    Args:
        flip: see :class:`SearchProtocol`.
        ranks: to report.
    """
    name = 'tinyface_identification'

    def __init__(self, flip: str | None = None, ranks: Sequence[int] = (1, 5, 20)) -> None:
        super().__init__(flip)
        self.ranks = tuple(ranks)

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return super().switches | dict(ranks=list(self.ranks))

    def check(self, search_set: SearchSet) -> None:
        """A mate for every probe."""
        check_mates(search_set)

    def numbers(self, search_set: SearchSet, rows: EmbeddingRows) -> dict:
        """``probes, gallery, distractors, ties``; ranks and ``mAP, mAP_step`` with intervals; ``cmc_searches, cmc_hits``."""
        probes = len(search_set.probe)
        mates, ranking = rank_probes(search_set, rows)
        _, rank, tied = first_mates(mates, ranking, probes)
        found: dict = dict(probes=probes, gallery=len(search_set.gallery), distractors=len(search_set.distractor),
                           ties=int((tied > 0).sum()))
        for r in self.ranks:
            hits = int((rank <= r).sum())
            found |= {f'rank{r}': hits / probes, f'rank{r}_ci95': list(wilson_interval(hits, probes))}
        precision = average_precision(mates.probe, _places(mates, ranking), probes)
        for name, values in (('mAP', precision.trapezoid), ('mAP_step', precision.step)):
            found |= {name: float(values.mean()), f'{name}_ci95': list(normal_interval(values))}
        return found | cumulative_matches(rank) | dict(intervals='searches are treated as independent')


def _places(mates: Mates, ranking: Ranking) -> np.ndarray:
    """The pessimistic place of each mate among all, other mates counted: int64 [N] from 1."""
    order = np.lexsort((-ranking.score, mates.probe))
    before = np.empty(len(order), np.int64)
    before[order] = np.arange(len(order)) - np.searchsorted(mates.probe, mates.probe)
    return 1 + before + ranking.above + ranking.tied

"""Identification in surveillance pictures at several distances: SCface.

M. Grgic, K. Delac, S. Grgic, "SCface - surveillance cameras face database", Multimedia Tools and Applications 51, 2011.
"""
from collections.abc import Sequence

import numpy as np

from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.intervals import mean_interval, wilson_interval
from mmface.functional.ranking import cumulative_matches, first_mates
from mmface.structures import SearchSet

from .search_protocol import SearchProtocol, check_mates, rank_probes


class SCfaceIdentification(SearchProtocol):
    """Ranks of the probes of each condition (a distance of the camera), and their mean over conditions.

    The gallery has one mugshot a person; with several, the one that scores highest counts. Mugshots of others that score the same stand
    before it. Which people and cameras take part is the set's: ``people`` says how many, since the literature tests on all 130 or leaves
    50 for training. Intervals are Wilson's, searches taken as independent; those of means add their distances in squares.

    Args:
        flip: see :class:`SearchProtocol`.
        ranks: to report.
    """
    name = 'scface_identification'

    def __init__(self, flip: str | None = None, ranks: Sequence[int] = (1, )) -> None:
        super().__init__(flip)
        self.ranks = tuple(ranks)

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return super().switches | dict(ranks=list(self.ranks))

    def check(self, search_set: SearchSet) -> None:
        """Conditions, and a mate for every probe."""
        if search_set.condition is None:
            raise ValueError(f'{search_set.name} does not say under which condition a probe was taken')
        check_mates(search_set)

    def numbers(self, search_set: SearchSet, rows: EmbeddingRows) -> dict:
        """``probes, gallery, people, ties``; ``rank1, rank1_ci95`` ...: means over ``conditions``, which has each with ``probes``; CMC."""
        condition = np.asarray(search_set.condition)
        _, rank, tied = first_mates(*rank_probes(search_set, rows), len(condition))
        found: dict = dict(probes=len(condition), gallery=len(search_set.gallery) + len(search_set.distractor),
                           people=len(np.unique(search_set.ids[search_set.probe])), ties=int((tied > 0).sum()))
        parts: dict[str, dict] = {name: dict(probes=int((condition == name).sum())) for name in np.unique(condition).tolist()}
        for r in self.ranks:
            counts = {name: (int((rank[condition == name] <= r).sum()), part['probes']) for name, part in parts.items()}
            for name, (hits, probes) in counts.items():
                parts[name] |= {f'rank{r}': hits / probes, f'rank{r}_ci95': list(wilson_interval(hits, probes))}
            mean = float(np.mean([hits / probes for hits, probes in counts.values()]))
            found |= {f'rank{r}': mean, f'rank{r}_ci95': list(mean_interval(*counts.values()))}
        return found | cumulative_matches(rank) | dict(conditions=parts, intervals='searches are treated as independent')

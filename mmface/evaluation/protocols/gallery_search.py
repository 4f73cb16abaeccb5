"""One list of probes looked for in one gallery, and the rates that are read off it."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mmface.functional.cosine_block import cosine_blocks
from mmface.functional.highest_scores import HighestScores
from mmface.functional.intervals import mean_interval, wilson_interval
from mmface.functional.open_set import OpenSetPoint, Searches
from mmface.functional.ranking import find_mates, first_mates, hide_mates, rank_mates
from mmface.functional.rows import UnitRows
from mmface.structures import TemplateList

from .template_pooling import Templates

NEVER = np.iinfo(np.int64).max  #: the rank of a mate that is not returned


@dataclass(frozen=True)
class GallerySearch:
    """What Q searches found in G templates.

    Attributes:
        templates: G.
        mated: bool [Q], whether the gallery holds the person.
        mate: float64 [Q], the highest score of a template of the person; -inf without one, and where either is rejected.
        rank: int64 [Q], the pessimistic rank of that template, from 1, or :data:`NEVER`.
        tied: int64 [Q], how many templates of others score the same.
        other: float64 [Q], the highest score of a template of another person; -inf where there is none, and for a rejected probe.
    """
    templates: int
    mated: np.ndarray
    mate: np.ndarray
    rank: np.ndarray
    tied: np.ndarray
    other: np.ndarray

    def hits(self, rank: int) -> tuple[int, int]:
        """How many mated searches have the mate within ``rank``, and how many there are."""
        return int((self.rank[self.mated] <= rank).sum()), int(self.mated.sum())

    def closed_set(self, ranks: Sequence[int]) -> dict:
        """``templates, mated, ties`` (searches whose mate has an equal) and, for each rank r, ``rank{r}`` and ``rank{r}_ci95``."""
        found = dict(templates=self.templates, mated=int(self.mated.sum()), ties=int((self.tied[self.mated] > 0).sum()))
        return found | mean_ranks([self], ranks)

    @property
    def searches(self) -> Searches:
        """The same as open-set rates need it."""
        return Searches(self.mate[self.mated], self.rank[self.mated], self.other[~self.mated])


def search_gallery(templates: Templates, probes: TemplateList, gallery: TemplateList, failure: str) -> GallerySearch:
    """Looks for probes in a gallery.

    Args:
        templates: where the vectors are.
        probes: who is looked for.
        gallery: where.
        failure: the protocol's ``failure_to_enrol``.

    Raises:
        ValueError: a template without image where that is an error, which is named; no probe has a mate.
    """
    (probe, unit), (enrolled, gallery_unit) = (_enrol(templates, listed, failure) for listed in (probes, gallery))
    mated = np.isin(probes.subject, gallery.subject)
    if not mated.any():
        raise ValueError(f'none of {len(probes)} probes is of a person in the gallery of {len(gallery)} templates')
    mates = find_mates(probes.subject[probe], gallery.subject[enrolled])
    ranking = rank_mates(unit, UnitRows(gallery_unit), np.arange(len(enrolled)), mates)
    found = GallerySearch(len(gallery), mated, *(np.full(len(probes), value) for value in (-np.inf, NEVER, 0, -np.inf)))
    mate, rank, tied = first_mates(mates, ranking, len(probe))
    found.mate[probe], found.tied[probe], found.other[probe] = mate, tied, ranking.other
    found.rank[probe] = np.where(rank > 0, rank, NEVER)
    return found


def highest_others(templates: Templates, probes: TemplateList, gallery: TemplateList, failure: str, count: int) -> np.ndarray:
    """The highest scores of all comparisons of two people, falling: ``count`` or, of fewer, all. Rejected templates take no part."""
    (probe, unit), (enrolled, gallery_unit) = (_enrol(templates, listed, failure) for listed in (probes, gallery))
    mates, highest = find_mates(probes.subject[probe], gallery.subject[enrolled]), HighestScores(count)
    for block in cosine_blocks(unit, UnitRows(gallery_unit), np.arange(len(enrolled))):
        hide_mates(block, mates)
        highest.add(block)
    return highest.falling()


def join(galleries: Sequence[TemplateList]) -> TemplateList:
    """Galleries as one, a template that several list once."""
    template, subject = (np.concatenate([getattr(gallery, name) for gallery in galleries]) for name in ('template', 'subject'))
    first = np.sort(np.unique(template, return_index=True)[1])
    return TemplateList(template[first], subject[first])


def mean_ranks(found: Sequence[GallerySearch], ranks: Sequence[int]) -> dict:
    """The mean over galleries of each rank's rate: ``rank{r}`` and ``rank{r}_ci95``."""
    rates: dict = {}
    for rank in ranks:
        counts = [search.hits(rank) for search in found]
        rates |= {f'rank{rank}': float(np.mean([hits / mated for hits, mated in counts])), f'rank{rank}_ci95': list(_interval(counts))}
    return rates


def mean_points(found: Sequence[GallerySearch], rule: Callable[[Searches, float], OpenSetPoint], fpirs: Sequence[float]) -> list[dict]:
    """The mean over galleries of TPIR at FPIR, by one of the rules of :mod:`mmface.functional.open_set`.

    Returns:
        ``fpir_target, fpir, tpir, tpir_ci95, mated, nonmated, resolvable`` a target: means of the shares, sums of the searches, whether
        every gallery can resolve the target.
    """
    records = []
    for fpir in fpirs:
        points = [rule(search.searches, fpir) for search in found]
        records.append(dict(
            fpir_target=fpir, fpir=float(np.mean([point.fpir for point in points])), tpir=float(np.mean([point.tpir for point in points])),
            tpir_ci95=list(_interval([(point.hits, point.mated) for point in points])), mated=sum(point.mated for point in points),
            nonmated=sum(point.nonmated for point in points), resolvable=all(point.resolvable for point in points)))
    return records


def _interval(counts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    return mean_interval(*counts) if len(counts) > 1 else wilson_interval(*counts[0])


def _enrol(templates: Templates, listed: TemplateList, failure: str) -> tuple[np.ndarray, np.ndarray]:
    """Which of the listed templates take part, and their vectors; that of one without image is 0."""
    rows = templates.rows(listed.template)
    lost = rows < 0
    if failure == 'error' and lost.any():
        raise ValueError(f'template {listed.template[lost][0]} has no image, as have {lost.sum()} of {len(listed)} in its list: '
                         "failure_to_enrol='zero' or 'reject' says what becomes of them")
    kept = np.flatnonzero(~lost | (failure == 'zero'))
    unit = templates.unit[rows[kept]]
    unit[lost[kept]] = 0
    return kept, unit

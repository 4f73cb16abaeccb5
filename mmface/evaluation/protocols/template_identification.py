"""Identification of templates: IJB-B and IJB-C 1:N.

B. Maze et al., "IARPA Janus Benchmark - C: Face Dataset and Protocol", ICB 2018.
"""
from collections.abc import Sequence
from math import ceil

import numpy as np

from mmface.functional.open_set import tpir_at_fpir, tpir_by_ijb_1n, tpir_by_ijb_evals
from mmface.functional.ranking import cumulative_matches
from mmface.structures import TemplateSet

from .gallery_search import GallerySearch, highest_others, join, mean_points, mean_ranks, search_gallery
from .template_pooling import TemplatePooling
from .template_protocol import TemplateProtocol


class TemplateIdentification(TemplateProtocol):
    """Closed-set ranks and open-set TPIR at FPIR of the probes of a set, in each of its galleries, and their mean.

    Conventions:

    - Every probe is searched in every gallery; in one that holds the person it is *mated*. Ranks are over mated searches, and count
      templates of others that score the same before the mate; ``ties`` says how many searches that decides.
    - TPIR at FPIR: the lowest threshold, of all scores, whose FPIR does not exceed the target; a hit has the mate at rank 1 and at or above
      it. The headline is the mean over the galleries, as the protocol has it.
    - ``ijb_evals`` has the threshold rule of InsightFace's script of that name (:func:`~mmface.functional.open_set.tpir_by_ijb_evals`),
      per gallery and mean. ``combined`` searches all galleries as one (IJB-C: 3,531 people), where everybody has a mate: ranks, and under
      ``ijb_1n`` the rule of InsightFace's and AdaFace's older script, whose numbers are not comparable with the others
      (:func:`~mmface.functional.open_set.tpir_by_ijb_1n`).
    - Scores are exact float64 cosines, so that ties are ties. Intervals are Wilson's, searches taken as independent; those of means add
      their distances in squares.

    Args:
        keep_norm: see :class:`TemplatePooling`.
        use_det_score: likewise.
        flip: likewise.
        pooling: likewise.
        failure_to_enrol: see :class:`TemplateProtocol`.
        ranks: of the closed set.
        fpirs: targets of the open set, fractions; () for none.
        probes: the name of the list of probes, or None where the set has one.
    """
    name = 'template_identification'

    def __init__(self,
                 keep_norm: bool = True,
                 use_det_score: bool = True,
                 flip: str | None = 'add',
                 pooling: str = 'media',
                 failure_to_enrol: str = 'error',
                 ranks: Sequence[int] = (1, 5, 10),
                 fpirs: Sequence[float] = (0.003, 0.01, 0.1),
                 probes: str | None = None) -> None:
        super().__init__(TemplatePooling(keep_norm, use_det_score, flip, pooling), failure_to_enrol)
        self.ranks, self.fpirs, self.probes = tuple(ranks), tuple(map(float, fpirs)), probes

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return super().switches | dict(ranks=list(self.ranks), fpirs=list(self.fpirs), probes=self.probes, tpir_at_fpir='strict')

    def check(self, template_set: TemplateSet) -> None:
        """Galleries, and the list of probes."""
        if not template_set.galleries:
            raise ValueError(f'{template_set.name} has no gallery')
        names = sorted(template_set.probes)
        if self.probes not in names and (self.probes is not None or len(names) != 1):
            raise ValueError(f'{template_set.name} has the lists of probes {names}: choose one with probes=')

    def __call__(self, template_set: TemplateSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> dict:
        """See :class:`TemplateProtocol`.

        Returns:
            ``set, probes``; ``cmc_searches, cmc_hits`` of all galleries; means over them: ``rank1, rank1_ci95`` and so on,
            ``tpir_at_fpir``: a list of ``fpir_target, fpir, tpir, tpir_ci95, mated, nonmated, resolvable``, ``ijb_evals``: the same by that
            rule; ``galleries``: for each its ``templates, mated,
            nonmated, ties``, ranks, ``tpir_at_fpir`` (with ``similarity, false_alarms``) and ``ijb_evals``; ``combined``: ``templates,
            mated, ties``, ranks and ``ijb_1n``; ``switches, protocol_hash``.
        """
        self.check(template_set)
        templates = self.pooling(template_set, embeddings, mirrored)
        probes = template_set.probes[self.probes or next(iter(template_set.probes))]
        found = {name: search_gallery(templates, probes, gallery, self.failure_to_enrol)
                 for name, gallery in template_set.galleries.items()}
        searches = list(found.values())
        together = join(list(template_set.galleries.values()))
        combined = search_gallery(templates, probes, together, self.failure_to_enrol)
        others = highest_others(templates, probes, together, self.failure_to_enrol, ceil(len(probes) * max(self.fpirs, default=0)) or 1)
        return dict(
            set=template_set.name, probes=len(probes), **mean_ranks(searches, self.ranks),
            tpir_at_fpir=mean_points(searches, tpir_at_fpir, self.fpirs),
            **cumulative_matches(np.concatenate([search.rank[search.mated] for search in searches])),
            ijb_evals=dict(tpir_at_fpir=mean_points(searches, tpir_by_ijb_evals, self.fpirs)),
            galleries={name: self._gallery(search) for name, search in found.items()},
            combined=combined.closed_set(self.ranks) | dict(
                ijb_1n=dict(tpir_at_fpir=[tpir_by_ijb_1n(combined.mate, others, fpir) for fpir in self.fpirs])),
            intervals='searches are treated as independent', switches=self.switches, protocol_hash=self.hash)

    def _gallery(self, search: GallerySearch) -> dict:
        return search.closed_set(self.ranks) | dict(
            nonmated=int((~search.mated).sum()), tpir_at_fpir=[tpir_at_fpir(search.searches, fpir).to_dict() for fpir in self.fpirs],
            ijb_evals=dict(tpir_at_fpir=[tpir_by_ijb_evals(search.searches, fpir).to_dict() for fpir in self.fpirs]))

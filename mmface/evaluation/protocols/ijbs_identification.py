"""Identification of people in surveillance video: IJB-S.

N. D. Kalka et al., "IJB-S: IARPA Janus Surveillance Video Benchmark", BTAS 2018; as read by PFE and AdaFace
(https://github.com/seasonSH/Probabilistic-Face-Embeddings, https://github.com/mk-minchul/AdaFace).
"""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mmface.functional.open_set import tpir_at_fpir, tpir_by_adaface, tpir_by_pfe
from mmface.structures import TemplateSet

from .gallery_search import join, mean_points, search_gallery
from .template_pooling import TemplatePooling, Templates
from .template_protocol import TemplateProtocol


class Part(NamedTuple):
    """One of the five: the list of ``probes``, and the ``gallery`` whose halves are ``{gallery}_g1`` and ``{gallery}_g2``."""
    probes: str
    gallery: str


PARTS = dict(
    surveillance_to_single=Part('surveillance_to_still', 'single'), surveillance_to_booking=Part('surveillance_to_still', 'booking'),
    multiview_surveillance_to_booking=Part('multiview', 'booking'),
    surveillance_to_surveillance=Part('surveillance_to_surveillance', 'surveillance'),
    uav_surveillance_to_booking=Part('uav', 'booking'))


class IJBSIdentification(TemplateProtocol):
    """The five protocols of IJB-S; tables print the first, the second and the fourth.

    Conventions:

    - A template is the mean of the raw embeddings of all its detected faces, brought to length 1 (PFE, AdaFace), the mirror image unused.
    - Closed set: both galleries joined. Open set: each gallery by itself, then the mean. Ranks and thresholds are those of
      :class:`TemplateIdentification`; ``adaface`` and ``pfe`` have the threshold rules of the papers' code
      (:func:`~mmface.functional.open_set.tpir_by_adaface`, :func:`~mmface.functional.open_set.tpir_by_pfe`).
    - The multiview probe has all videos of a person, the enrolment clip among them, as in PFE and AdaFace: that is a leak.
    - Some templates have no detected face, so that ``failure_to_enrol`` has to be chosen: ``'zero'`` is what is published, and can find the
      mate of a probe without a face; ``'reject'`` counts both as misses.

    Args:
        keep_norm: see :class:`TemplatePooling`.
        flip: likewise.
        pooling: likewise.
        failure_to_enrol: see :class:`TemplateProtocol`.
        ranks: of the closed set.
        fpirs: targets of the open set, fractions.
    """
    name = 'ijbs_identification'

    def __init__(self,
                 keep_norm: bool = True,
                 flip: str | None = None,
                 pooling: str = 'images',
                 failure_to_enrol: str = 'error',
                 ranks: Sequence[int] = (1, 5, 10),
                 fpirs: Sequence[float] = (0.01, 0.1)) -> None:
        super().__init__(TemplatePooling(keep_norm, False, flip, pooling), failure_to_enrol)
        self.ranks, self.fpirs = tuple(ranks), tuple(map(float, fpirs))

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return super().switches | dict(ranks=list(self.ranks), fpirs=list(self.fpirs), tpir_at_fpir='strict')

    def check(self, template_set: TemplateSet) -> None:
        """All lists of probes and all galleries."""
        for lists, names in ((template_set.probes, {part.probes for part in PARTS.values()}),
                             (template_set.galleries, {f'{part.gallery}_g{half}' for part in PARTS.values() for half in (1, 2)})):
            if names - set(lists):
                raise ValueError(f'{template_set.name} has no list {min(names - set(lists))}, it has {sorted(lists)}')

    def __call__(self, template_set: TemplateSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> dict:
        """See :class:`TemplateProtocol`.

        Returns:
            ``set``; for each protocol ``probes, templates, mated, ties``, ``rank1, rank1_ci95`` and so on of the joined galleries,
            ``tpir_at_fpir``: a list of ``fpir_target, fpir, tpir, tpir_ci95, mated, nonmated, resolvable``, means over both galleries;
            ``adaface`` and ``pfe``: the same by those rules; ``galleries``: ``tpir_at_fpir`` of each with ``similarity`` and
            ``false_alarms``; then ``switches, protocol_hash``.
        """
        self.check(template_set)
        templates = self.pooling(template_set, embeddings, mirrored)
        return dict(
            set=template_set.name, **{name: self._part(template_set, templates, part) for name, part in PARTS.items()},
            intervals='searches are treated as independent', switches=self.switches, protocol_hash=self.hash)

    def _part(self, template_set: TemplateSet, templates: Templates, part: Part) -> dict:
        probes = template_set.probes[part.probes]
        halves = {name: template_set.galleries[name] for name in (f'{part.gallery}_g1', f'{part.gallery}_g2')}
        joined = search_gallery(templates, probes, join(list(halves.values())), self.failure_to_enrol)
        found = {name: search_gallery(templates, probes, half, self.failure_to_enrol) for name, half in halves.items()}
        means = {name: mean_points(list(found.values()), rule, self.fpirs)
                 for name, rule in (('strict', tpir_at_fpir), ('adaface', tpir_by_adaface), ('pfe', tpir_by_pfe))}
        return dict(
            probes=len(probes), **joined.closed_set(self.ranks), tpir_at_fpir=means['strict'],
            adaface=dict(tpir_at_fpir=means['adaface']), pfe=dict(tpir_at_fpir=means['pfe']),
            galleries={name: dict(tpir_at_fpir=[tpir_at_fpir(search.searches, fpir).to_dict() for fpir in self.fpirs])
                       for name, search in found.items()})

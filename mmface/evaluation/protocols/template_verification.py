"""Verification of templates: IJB-B and IJB-C 1:1.

B. Maze et al., "IARPA Janus Benchmark - C: Face Dataset and Protocol", ICB 2018; poolings as in InsightFace's ``eval_ijbc.py``
(https://github.com/deepinsight/insightface, recognition/_evaluation_/ijb).
"""
from collections.abc import Sequence

import numpy as np

from mmface.functional.auc_interval import auc_interval
from mmface.functional.equal_error_rate import equal_error_rate
from mmface.functional.intervals import mean_interval
from mmface.functional.operating_point import tar_at_far, tar_at_nearest_far
from mmface.functional.roc import roc_curve
from mmface.functional.template_pairs import pair_scores
from mmface.structures import TemplateSet

from .template_pooling import TemplatePooling
from .template_protocol import FAILURES, TemplateProtocol

_FARS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


class TemplateVerification(TemplateProtocol):
    """TAR at FAR over the template pairs of a set.

    Conventions:

    - A template is pooled as :class:`TemplatePooling` says; the defaults are InsightFace's, and its ``POOLING_PRESETS`` those of others:
      ``TemplateVerification(**POOLING_PRESETS['adaface'])``. The score is the cosine, accepted when score >= threshold.
    - ``tar_at_far`` is the largest TAR whose FAR does not exceed the target; equal scores pass or fail together. ``nearest`` has the rule
      that all published numbers follow: the point of the ROC whose FAR is nearest, above or below, here of the whole curve, not a thinned
      one. A target below one over the number of impostors is marked ``resolvable=False``.
    - Scores are exact cosines in float64 (:class:`~mmface.functional.cosine.ExactCosine`), or with ``precision='float32'`` off by some
      1e-7 and half the memory.
    - Intervals take pairs as independent; they share templates, so these are too narrow.

    Args:
        keep_norm: see :class:`TemplatePooling`.
        use_det_score: likewise.
        flip: likewise.
        pooling: likewise.
        precision: likewise; of the scores, too.
        failure_to_enrol: see :class:`TemplateProtocol`.
        fars: targets of TAR@FAR, fractions.
    """
    name = 'template_verification'

    def __init__(self,
                 keep_norm: bool = True,
                 use_det_score: bool = True,
                 flip: str | None = 'add',
                 pooling: str = 'media',
                 precision: str = 'float64',
                 failure_to_enrol: str = 'error',
                 fars: Sequence[float] = _FARS) -> None:
        super().__init__(TemplatePooling(keep_norm, use_det_score, flip, pooling, precision), failure_to_enrol)
        self.fars = tuple(map(float, fars))

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return super().switches | dict(fars=list(self.fars), tar_at_far='strict')

    def check(self, template_set: TemplateSet) -> None:
        """Pairs of both kinds."""
        same = template_set.same
        if not same.any() or same.all():
            raise ValueError(f'{template_set.name}: verification needs genuine and impostor pairs, got {int(same.sum())} and '
                             f'{int((~same).sum())}')

    def __call__(self, template_set: TemplateSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> dict:
        """See :class:`TemplateProtocol`, and :meth:`judge` for what is returned."""
        self.check(template_set)
        return self.judge(template_set, self.similarity(template_set, embeddings, mirrored))

    def similarity(self, template_set: TemplateSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> np.ndarray:
        """The scores of the pairs, [P] of the precision, in [-1, 1], or -inf for a rejected failure to enrol; see :meth:`__call__`."""
        templates = self.pooling(template_set, embeddings, mirrored)
        absent = FAILURES.get(self.failure_to_enrol)
        try:
            return pair_scores(templates.unit, templates.ids, template_set.pairs, absent, self.pooling.precision)
        except ValueError as error:
            hint = "failure_to_enrol='zero' or 'reject' says what becomes of it"
            raise ValueError(f'{template_set.name}: {error}; {hint}') from error

    def judge(self, template_set: TemplateSet, similarity: np.ndarray) -> dict:
        """The result, from the scores [P] of the pairs.

        ``set, pairs, genuine, impostors``; ``auc, auc_ci95, eer, eer_ci95, eer_cross, eer_threshold``; ``tar_at_far``: a list of
        ``far_target, far, similarity, tar, tar_ci95, genuine, impostors, false_accepts, resolvable``; ``nearest``: the same list by that
        rule, under ``tar_at_far``; ``intervals``: what they take for granted; ``switches, protocol_hash``.
        """
        roc = roc_curve(similarity[template_set.same], similarity[~template_set.same])
        eer = equal_error_rate(roc)
        errors = ((round(eer.fmr * roc.impostors), roc.impostors), (round(eer.fnmr * roc.genuine), roc.genuine))
        return dict(
            set=template_set.name, pairs=len(similarity), genuine=roc.genuine, impostors=roc.impostors, auc=roc.auc,
            auc_ci95=list(auc_interval(roc)), eer=eer.mid, eer_ci95=list(mean_interval(*errors)), eer_cross=eer.cross,
            eer_threshold=eer.threshold, tar_at_far=[tar_at_far(roc, far).to_dict() for far in self.fars],
            nearest=dict(tar_at_far=[tar_at_nearest_far(roc, far).to_dict() for far in self.fars]),
            intervals='pairs are treated as independent', switches=self.switches, protocol_hash=self.hash)

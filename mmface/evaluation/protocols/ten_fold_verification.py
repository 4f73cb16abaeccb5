"""Ten-fold verification: LFW, CFP-FF/FP, AgeDB-30, CALFW, CPLFW, XQLFW.

G. B. Huang, M. Ramesh, T. Berg, E. Learned-Miller, "Labeled Faces in the Wild", 2007, view 2; thresholds as in InsightFace's
``recognition/arcface_torch/eval/verification.py``, which AdaFace and CVLface share.
"""
from collections.abc import Sequence

import numpy as np

from mmface.functional.auc_interval import auc_interval
from mmface.functional.equal_error_rate import equal_error_rate
from mmface.functional.group_error_rates import group_error_rates, pair_groups
from mmface.functional.intervals import mean_interval, wilson_interval
from mmface.functional.operating_point import tar_at_far
from mmface.functional.roc import roc_curve
from mmface.functional.ten_fold import FoldAccuracy, check_folds, fold_accuracy, fold_val
from mmface.structures import PairSet

from .pair_protocol import PairProtocol
from .verification_bootstrap import VerificationBootstrap

INDEPENDENT = 'pairs are treated as independent'


class TenFoldVerification(PairProtocol):
    """Accuracy over the folds of a pair set, with everything else that is read off the same scores.

    Conventions:

    - The score is the cosine of L2-normalised embeddings; d = 2 - 2 cosine is the squared distance.
    - Folds are the set's own. Each is tested at the threshold with the highest accuracy on the others, the lowest of several, and a pair
      is accepted when d < threshold. The accuracy is the mean over folds.
    - ``accuracy_std`` divides by F, as InsightFace prints it; ``accuracy_se`` is LFW's own figure, the standard error (F - 1, over the
      root of F), three times smaller for ten folds. ``accuracy_ci95`` is Wilson's interval of all pairs that were right.
    - AUC, EER and TAR@FAR are taken over all pairs together, accept when cosine >= threshold; TAR@FAR is the largest TAR whose FAR does
      not exceed the target, and a target below one over the number of impostors is marked ``resolvable=False``.
    - Intervals named ``..._ci95`` take pairs as independent; they share images and people, so these are too narrow. A bootstrap over people
      is asked for with ``bootstrap`` and needs a set that names them; it changes no number outside ``result['bootstrap']``, so that it has
      no part in the protocol's hash.
    - Where images have groups, FMR and FNMR of each are taken at one threshold: the given one, or that of ``group_far`` over all pairs.

    Args:
        rule: ``'grid'``: the literature's thresholds d = 0, 0.01, ... 3.99; ``'exact'``: every distance that occurs in the other folds.
        flip: see :class:`PairProtocol`.
        fars: targets of TAR@FAR, fractions.
        val_far: target of VAL@FAR, a fraction.
        group_far: the FAR over all pairs, a fraction, at whose threshold groups are compared.
        group_threshold: a cosine to compare groups at instead.
        precision: see :class:`PairProtocol`.
        bootstrap: how many sets of people to draw for intervals; 0 for none.
        seed: of the draws.
    """
    name = 'ten_fold_verification'

    def __init__(self,
                 rule: str = 'grid',
                 flip: str | None = None,
                 fars: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
                 val_far: float = 1e-3,
                 group_far: float = 1e-3,
                 group_threshold: float | None = None,
                 precision: str = 'float64',
                 bootstrap: int = 0,
                 seed: int = 0) -> None:
        super().__init__(rule, flip, precision)
        self.fars, self.val_far = tuple(map(float, fars)), float(val_far)
        self.group_far, self.group_threshold = float(group_far), group_threshold
        self.bootstrap = VerificationBootstrap(bootstrap, seed) if bootstrap else None

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return super().switches | dict(
            fars=list(self.fars), val_far=self.val_far, tar_at_far='strict', group_far=self.group_far, group_threshold=self.group_threshold)

    def check(self, pair_set: PairSet) -> None:
        """Both kinds of pairs in each of at least two folds."""
        check_folds(pair_set.name, pair_set.same, pair_set.fold)

    def numbers(self, pair_set: PairSet, similarity: np.ndarray) -> dict:
        """What is read off the cosines [N].

        ``folds, accuracy, accuracy_std, accuracy_se, accuracy_ci95``; ``fold_accuracy`` and ``fold_threshold`` (squared distances),
        ``threshold`` (their mean, as a cosine); ``auc, auc_ci95, eer, eer_ci95, eer_cross, eer_threshold``; ``tar_at_far``: a list of
        ``far_target, far, similarity, tar, tar_ci95, genuine, impostors, false_accepts, resolvable``; ``val_at_far``: ``far_target,
        resolvable`` and ``val, val_ci95, val_std, far`` by the ``strict`` and the ``peer`` rule; ``groups``: see
        :func:`~mmface.functional.group_error_rates.group_error_rates`, with the ``threshold`` and what chose it, or None where no image has
        a group; ``intervals``: what they take for granted, in words; ``bootstrap``: the main numbers again with intervals over people, or
        None. Shares are fractions; a threshold that accepts all or nothing is infinite.
        """
        found = self.accuracy(pair_set, similarity) | self._pooled(similarity, pair_set.same) | dict(
            val_at_far=self.val(pair_set, similarity), groups=self._groups(pair_set, similarity))
        return found | self._over_people(pair_set, similarity, found)

    def accuracy(self, pair_set: PairSet, similarity: np.ndarray) -> dict:
        """The entries of :meth:`numbers` from ``folds`` to ``threshold``."""
        return accuracy_numbers(fold_accuracy(2 - 2 * similarity, pair_set.same, pair_set.fold, self.rule))

    def right(self, pair_set: PairSet, similarity: np.ndarray) -> np.ndarray:
        """Bool [N]: the pairs that are decided rightly, each at the threshold of its fold."""
        distance, right = 2 - 2 * similarity, np.zeros(len(pair_set), bool)
        for at in self.parts(pair_set):
            same, fold = pair_set.same[at], pair_set.fold[at]
            right[at] = (distance[at] < fold_accuracy(distance[at], same, fold, self.rule).threshold[fold]) == same
        return right

    def parts(self, pair_set: PairSet) -> list[np.ndarray]:
        """Bool [N] each: the pairs that choose thresholds among themselves; the accuracy is the mean of the parts'."""
        return [np.ones(len(pair_set), bool)]

    def _pooled(self, similarity: np.ndarray, same: np.ndarray) -> dict:
        genuine, impostor = similarity[same], similarity[~same]
        roc = roc_curve(genuine, impostor)
        eer = equal_error_rate(roc)
        errors = ((round(eer.fmr * roc.impostors), roc.impostors), (round(eer.fnmr * roc.genuine), roc.genuine))
        return dict(
            auc=roc.auc, auc_ci95=list(auc_interval(roc)), eer=eer.mid, eer_ci95=list(mean_interval(*errors)),
            eer_cross=eer.cross, eer_threshold=eer.threshold, tar_at_far=[tar_at_far(roc, far).to_dict() for far in self.fars])

    def val(self, pair_set: PairSet, similarity: np.ndarray) -> dict:
        """The entry ``val_at_far`` of :meth:`numbers`."""
        same, fold = pair_set.same, pair_set.fold
        impostors = np.bincount(fold[~same])
        result: dict = dict(far_target=self.val_far, resolvable=bool(self.val_far * (impostors.sum() - impostors.max()) >= 1))
        for rule in ('strict', 'peer'):
            found = fold_val(2 - 2 * similarity, same, fold, self.val_far, rule)
            interval = wilson_interval(int(found.true_accepts.sum()), int(found.genuine.sum()))
            result[rule] = dict(
                val=float(found.val.mean()), val_ci95=list(interval), val_std=float(found.val.std()), far=float(found.far.mean()))
        return result

    def _groups(self, pair_set: PairSet, similarity: np.ndarray) -> dict | None:
        if pair_set.groups is None:
            return None
        chosen: dict = dict(threshold=self.group_threshold)
        if self.group_threshold is None:
            point = tar_at_far(roc_curve(similarity[pair_set.same], similarity[~pair_set.same]), self.group_far).to_dict()
            chosen = dict(threshold=point['similarity'], **{key: point[key] for key in ('far_target', 'far', 'resolvable')})
        group = pair_groups(pair_set.groups, pair_set.pairs)
        return chosen | group_error_rates(similarity, pair_set.same, group, chosen['threshold'])

    def _over_people(self, pair_set: PairSet, similarity: np.ndarray, found: dict) -> dict:
        if self.bootstrap is None:
            return dict(intervals=INDEPENDENT, bootstrap=None)
        if pair_set.identities is None:
            return dict(intervals=f'{INDEPENDENT}: the set does not name people to draw', bootstrap=None)
        intervals = f'{INDEPENDENT}, except in those of the bootstrap over people'
        return dict(intervals=intervals, bootstrap=self.bootstrap.intervals(pair_set, similarity, self.parts(pair_set), self.rule, found))


def accuracy_numbers(found: FoldAccuracy) -> dict:
    """``folds, accuracy, accuracy_std, accuracy_se, accuracy_ci95, fold_accuracy, fold_threshold, threshold``."""
    accuracy = found.correct / found.pairs
    return dict(
        folds=len(accuracy),
        accuracy=float(accuracy.mean()),
        accuracy_std=float(accuracy.std()),
        accuracy_se=float(accuracy.std(ddof=1) / np.sqrt(len(accuracy))),
        accuracy_ci95=list(wilson_interval(int(found.correct.sum()), int(found.pairs.sum()))),
        fold_accuracy=accuracy.tolist(),
        fold_threshold=found.threshold.tolist(),
        threshold=float(1 - np.minimum(found.threshold, 4).mean() / 2))

"""Ten-fold verification: LFW, CFP-FF/FP, AgeDB-30, CALFW, CPLFW, XQLFW, RFW.

G. B. Huang, M. Ramesh, T. Berg, E. Learned-Miller, "Labeled Faces in the Wild", 2007, view 2; thresholds as in InsightFace's
``recognition/arcface_torch/eval/verification.py``, which AdaFace and CVLface share.
"""
from collections.abc import Sequence

import numpy as np

from mmface.functional.intervals import wilson_interval
from mmface.functional.operating_point import tar_at_far
from mmface.functional.pair_distances import FLIP_RULES, fuse_flip, pair_distances, unit_rows
from mmface.functional.roc import auc, equal_error_rate, roc_curve
from mmface.functional.ten_fold import check_folds, fold_accuracy, fold_val
from mmface.structures import PairSet

from .switches import hash_switches


class TenFoldVerification:
    """Accuracy over the folds of a pair set, with everything else that is read off the same scores.

    Conventions:

    - The score is the cosine of L2-normalised embeddings, float64 from the raw ones on; d = 2 - 2 cosine is the squared distance.
    - Folds are the set's own. Each is tested at the threshold with the highest accuracy on the others, the lowest of several, and a pair
      is accepted when d < threshold. The accuracy is the mean over folds.
    - ``accuracy_std`` divides by F, as InsightFace prints it; ``accuracy_se`` is LFW's own figure, the standard error (F - 1, over the
      root of F), three times smaller for ten folds. ``accuracy_ci95`` is Wilson's interval of all pairs that were right.
    - AUC, EER and TAR@FAR are taken over all pairs together, accept when cosine >= threshold; TAR@FAR is the largest TAR whose FAR does
      not exceed the target, and a target below one over the number of impostors is marked ``resolvable=False``.
    - Pairs count as independent in intervals; they share images and people, so the intervals are too narrow.

    Args:
        rule: ``'grid'``: the literature's thresholds d = 0, 0.01, ... 3.99; ``'exact'``: every distance that occurs in the other folds.
        flip: None for plain embeddings, or how those of an image and of its mirror image become one before normalisation: ``'add'`` (raw
            sum, InsightFace), ``'add_unit'`` (normalised, then added), ``'concatenate'`` (facenet).
        fars: targets of TAR@FAR, fractions.
        val_far: target of VAL@FAR, a fraction.
    """

    def __init__(self,
                 rule: str = 'grid',
                 flip: str | None = None,
                 fars: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4),
                 val_far: float = 1e-3) -> None:
        if rule not in ('grid', 'exact'):
            raise ValueError(f"rule is {rule!r}, expected 'grid' or 'exact'")
        if flip not in (None, *FLIP_RULES):
            raise ValueError(f'flip is {flip!r}, expected None or one of {sorted(FLIP_RULES)}')
        self.rule, self.flip, self.fars, self.val_far = rule, flip, tuple(map(float, fars)), float(val_far)

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return dict(
            protocol='ten_fold_verification', version=1, score='cosine', rule=self.rule, flip=self.flip, fars=list(self.fars),
            val_far=self.val_far, tar_at_far='strict')

    @property
    def hash(self) -> str:
        """The fingerprint of :attr:`switches`."""
        return hash_switches(self.switches)

    def similarity(self, pair_set: PairSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> np.ndarray:
        """The cosines of the pairs, float64 [N]; see :meth:`__call__`."""
        return 1 - self._distances(pair_set, embeddings, mirrored) / 2

    def __call__(self, pair_set: PairSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> dict:
        """Evaluates the embeddings of a pair set.

        Args:
            pair_set: N pairs over M images, with both kinds of pairs in each of at least two folds.
            embeddings: raw [M, D] in the order of ``pair_set.paths``.
            mirrored: those of the mirrored images, where ``flip`` asks for them.

        Returns:
            ``set, pairs, genuine, impostors, folds``; ``accuracy, accuracy_std, accuracy_se, accuracy_ci95``; ``fold_accuracy`` and
            ``fold_threshold`` (squared distances), ``threshold`` (their mean, as a cosine); ``auc, eer, eer_cross, eer_threshold``;
            ``tar_at_far``: a list of ``far_target, far, similarity, tar, tar_ci95, genuine, impostors, false_accepts, resolvable``;
            ``val_at_far``: ``far_target, resolvable`` and ``val, val_std, far`` by the ``strict`` and the ``peer`` rule;
            ``switches, protocol_hash``. Shares are fractions; a threshold that accepts all or nothing is infinite.

        Raises:
            ValueError: a wrong number of embeddings, one that is not finite or has no length, or an unusable fold; names it.
        """
        same, fold = pair_set.same, pair_set.fold
        check_folds(pair_set.name, same, fold)
        distance = self._distances(pair_set, embeddings, mirrored)
        return dict(
            set=pair_set.name, pairs=len(same), genuine=int(same.sum()), impostors=int((~same).sum()), folds=int(fold.max()) + 1,
            **self._accuracy(distance, same, fold), **self._pooled(1 - distance / 2, same),
            val_at_far=self._val(distance, same, fold), switches=self.switches, protocol_hash=self.hash)

    def _distances(self, pair_set: PairSet, embeddings: np.ndarray, mirrored: np.ndarray | None) -> np.ndarray:
        fused = fuse_flip(embeddings, mirrored, self.flip, pair_set.paths)
        return pair_distances(unit_rows(fused, pair_set.paths), pair_set.pairs)

    def _accuracy(self, distance: np.ndarray, same: np.ndarray, fold: np.ndarray) -> dict:
        found = fold_accuracy(distance, same, fold, self.rule)
        accuracy = found.correct / found.pairs
        return dict(
            accuracy=float(accuracy.mean()), accuracy_std=float(accuracy.std()),
            accuracy_se=float(accuracy.std(ddof=1) / np.sqrt(len(accuracy))),
            accuracy_ci95=list(wilson_interval(int(found.correct.sum()), len(same))), fold_accuracy=accuracy.tolist(),
            fold_threshold=found.threshold.tolist(), threshold=float(1 - np.minimum(found.threshold, 4).mean() / 2))

    def _pooled(self, similarity: np.ndarray, same: np.ndarray) -> dict:
        genuine, impostor = similarity[same], similarity[~same]
        roc = roc_curve(genuine, impostor)
        eer = equal_error_rate(roc)
        return dict(
            auc=auc(genuine, impostor), eer=eer.mid, eer_cross=eer.cross, eer_threshold=eer.threshold,
            tar_at_far=[tar_at_far(roc, far).to_dict() for far in self.fars])

    def _val(self, distance: np.ndarray, same: np.ndarray, fold: np.ndarray) -> dict:
        impostors = np.bincount(fold[~same])
        result: dict = dict(far_target=self.val_far, resolvable=bool(self.val_far * (impostors.sum() - impostors.max()) >= 1))
        for rule in ('strict', 'peer'):
            found = fold_val(distance, same, fold, self.val_far, rule)
            result[rule] = dict(val=float(found.val.mean()), val_std=float(found.val.std()), far=float(found.far.mean()))
        return result

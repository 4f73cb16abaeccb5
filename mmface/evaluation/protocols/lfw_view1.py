"""LFW's View 1, for choosing a model: the threshold from ``pairsDevTrain.txt``, the accuracy on ``pairsDevTest.txt``.

G. B. Huang, M. Ramesh, T. Berg, E. Learned-Miller, "Labeled Faces in the Wild", 2007. Its people meet again in View 2: tune on this one,
report on the other.
"""
import numpy as np

from mmface.functional.intervals import wilson_interval
from mmface.functional.ten_fold import check_folds, fold_accuracy
from mmface.structures import PairSet

from .pair_protocol import PairProtocol

TRAIN, TEST = 0, 1  #: the folds of DevTrain and of DevTest


class LFWView1(PairProtocol):
    """One accuracy, of the pairs in fold 1 at the threshold with the highest accuracy on those in fold 0, the lowest of several.

    A pair is accepted when its squared distance lies below the threshold, as in :class:`TenFoldVerification`. The numbers of pairs in a
    result are those of both folds; ``test_genuine`` and ``test_impostors`` are behind the accuracy.

    The arguments are those of :class:`PairProtocol`.
    """
    name = 'lfw_view1'
    version = 1

    def check(self, pair_set: PairSet) -> None:
        """Two folds with both kinds of pairs."""
        if int(pair_set.fold.max()) != TEST:
            raise ValueError(f'{pair_set.name}: View 1 has two folds, DevTrain and DevTest, this set has {int(pair_set.fold.max()) + 1}')
        check_folds(pair_set.name, pair_set.same, pair_set.fold)

    def numbers(self, pair_set: PairSet, similarity: np.ndarray) -> dict:
        """``accuracy, accuracy_ci95``, ``threshold`` (a cosine), ``test_genuine, test_impostors, intervals``."""
        found = fold_accuracy(2 - 2 * similarity, pair_set.same, pair_set.fold, self.rule)
        right, pairs = int(found.correct[TEST]), int(found.pairs[TEST])
        genuine = int(pair_set.same[pair_set.fold == TEST].sum())
        return dict(
            accuracy=right / pairs,
            accuracy_ci95=list(wilson_interval(right, pairs)),
            threshold=float(1 - np.minimum(found.threshold[TEST], 4) / 2),
            test_genuine=genuine,
            test_impostors=pairs - genuine,
            intervals='pairs are treated as independent')

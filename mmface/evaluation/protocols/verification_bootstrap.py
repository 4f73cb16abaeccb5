"""Intervals over people for what ten-fold verification reports, and the draws behind them."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mmface.functional.identity_bootstrap import IdentityBootstrap, percentile_interval
from mmface.functional.ten_fold import GRID, weighted_fold_accuracy
from mmface.functional.weighted_roc import WeightedRoc, aucs, equal_error_rates, tars_at_far
from mmface.structures import PairSet

MEASURES = ('accuracy', 'auc', 'eer')
_CELLS = 2**20  # float64 numbers in the largest array of a block


@dataclass(frozen=True)
class VerificationBootstrap:
    """Ten-fold verification of many drawn sets of people, see :class:`~mmface.functional.identity_bootstrap.IdentityBootstrap`.

    Thresholds are chosen anew in each. A fold whose people were not drawn is left out of the mean; a draw without genuine or without
    impostor pairs gives NaN.

    Args:
        replicates: how many sets to draw.
        seed: of the draws.
    """
    replicates: int
    seed: int = 0

    def draw(self, pair_set: PairSet, similarity: np.ndarray, parts: Sequence[np.ndarray], rule: str,
             fars: Sequence[float]) -> dict[str | float, np.ndarray]:
        """``accuracy, auc, eer`` and one entry for each of ``fars``: float64 [R].

        Args:
            pair_set: N pairs; it must name people.
            similarity: their cosines [N].
            parts: bool [N] each; the accuracy is the mean of those of the parts.
            rule: how folds choose their threshold, ``'grid'`` or ``'exact'``.
            fars: targets of TAR@FAR, fractions.
        """
        first, second = people_of(pair_set).T
        bootstrap = IdentityBootstrap(first, second, self.replicates, self.seed)
        curve = WeightedRoc(similarity, pair_set.same)
        candidates = len(pair_set) if rule == 'exact' else len(GRID)
        blocks = []
        for weights in bootstrap.blocks(max(1, _CELLS // max(len(pair_set), candidates * (int(pair_set.fold.max()) + 1)))):
            rocs = curve(weights)
            accuracy = [_accuracies(pair_set.same[at], pair_set.fold[at], similarity[at], rule, weights[:, at]) for at in parts]
            tars = [tars_at_far(rocs, far) for far in fars]
            blocks.append([np.mean(accuracy, 0), aucs(rocs), equal_error_rates(rocs), *tars])
        return dict(zip((*MEASURES, *fars), map(np.concatenate, zip(*blocks, strict=True)), strict=True))

    def intervals(self, pair_set: PairSet, similarity: np.ndarray, parts: Sequence[np.ndarray], rule: str, found: dict) -> dict:
        """The numbers ``found`` by ten-fold verification, each with the percentile interval of the draws.

        Returns:
            ``people, replicates, unusable`` (draws that lack a kind of pairs), ``seed``; ``accuracy, auc, eer`` with their ``..._ci95``;
            ``tar_at_far``: a list of ``far_target, tar, tar_ci95, resolvable``.
        """
        points = found['tar_at_far']
        drawn = self.draw(pair_set, similarity, parts, rule, [point['far_target'] for point in points])
        numbers: dict = {}
        for name in MEASURES:
            numbers |= {name: found[name], f'{name}_ci95': list(percentile_interval(drawn[name]))}
        rates = [
            dict(
                far_target=point['far_target'],
                tar=point['tar'],
                tar_ci95=list(percentile_interval(drawn[point['far_target']])),
                resolvable=point['resolvable']) for point in points
        ]
        return dict(
            people=len(np.unique(people_of(pair_set))), replicates=self.replicates, unusable=int(np.isnan(drawn['auc']).sum()),
            seed=self.seed, **numbers, tar_at_far=rates)


def people_of(pair_set: PairSet) -> np.ndarray:
    """The names of the people in the two images of each pair, [N, 2]."""
    return np.asarray(pair_set.identities)[pair_set.pairs]


def _accuracies(same: np.ndarray, fold: np.ndarray, similarity: np.ndarray, rule: str, weights: np.ndarray) -> np.ndarray:
    """The mean over the folds that have pairs, float64 [R]; NaN where none has."""
    found = weighted_fold_accuracy(2 - 2 * similarity, same, fold, rule, weights)
    folds = (found.pairs > 0).sum(1)
    return (found.correct / np.maximum(found.pairs, 1)).sum(1) / np.where(folds, folds, np.nan)

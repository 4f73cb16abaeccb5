"""Does an exported network still verify faces as its source does?"""
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mmface.datasets import EvalDataset
from mmface.evaluation import TenFoldVerification
from mmface.export import GateError
from mmface.functional.decidability import d_prime, d_prime_difference
from mmface.functional.mcnemar import mcnemar_test
from mmface.functional.ten_fold import fold_accuracy
from mmface.structures import PairSet

_NOTICED = 3.  # standard errors
_LEAST = 100  # pairs of a kind; fewer exceed three of their standard errors by chance more often: sets of 10, one in fifty
_SIGNIFICANT = 0.05

Embed = Callable[[np.ndarray], list[np.ndarray]]


@dataclass(frozen=True)
class EndMetricGate:
    """Compares source and export on a pair set: accuracy over its folds and TAR at one FAR, before and after.

    Each may be worse by at most ``max_drop``, and by no more than chance makes of pairs that the two decide differently (McNemar's exact
    test). First a fault is planted: with red and blue swapped, the export's d' over the same pairs has to differ by three standard errors.
    A set on which that wrong colour order does not show would show no other small damage either, and is refused, as is one of fewer
    than a hundred pairs of either kind, whose standard errors are not to be trusted.

    Args:
        pair_set: the pairs.
        images: uint8 RGB [M, H, W, 3], aligned, in the order of ``pair_set.paths``.
        max_drop: the largest loss accepted of either share, as a fraction.
        far: of the TAR, a fraction; left out where the impostors cannot resolve it.
        batch_size: images at a time.

    Raises:
        ValueError: other images than the set has.
    """
    pair_set: PairSet
    images: np.ndarray
    max_drop: float = 0.003
    far: float = 1e-3
    batch_size: int = 64

    def __post_init__(self) -> None:
        if len(self.images) != len(self.pair_set.paths):
            raise ValueError(f'{self.pair_set.name}: {len(self.pair_set.paths)} images are needed, got {len(self.images)}')

    @classmethod
    def from_dataset(cls, dataset: EvalDataset, max_drop: float = 0.003) -> 'EndMetricGate':
        """The gate on a data set of pairs whose items are as ``PackFace`` leaves them.

        Raises:
            ValueError: a data set of templates or searches.
        """
        pair_set = dataset.metainfo.get('pair_set')
        if pair_set is None:
            raise ValueError(f'{dataset.images.set.name}: the gate compares pairs, give it a set of pairs')
        images = np.stack([dataset[at]['inputs'].permute(1, 2, 0).numpy() for at in range(len(dataset))])
        return cls(pair_set, images, max_drop)

    def __call__(self, source: Embed, candidate: Embed) -> dict:
        """Measures both.

        Args:
            source: what was exported, uint8 RGB [B, H, W, 3] to outputs, of which the first is the embeddings.
            candidate: the export.

        Returns:
            ``set, genuine, impostors, protocol_hash``; ``accuracy`` and, where it can be resolved, ``tar``: each ``before, after, drop,
            only_before, only_after`` (pairs that one alone got right) and ``p_value``; ``d_prime``: ``before, after, swapped``;
            ``max_drop, far``.

        Raises:
            GateError: the export is worse than that, or the set cannot tell.
        """
        protocol = TenFoldVerification(fars=(self.far, ))
        runs = [protocol.similarity(self.pair_set, self._embed(embed, swap)) for embed, swap in (
            (source, False), (candidate, False), (candidate, True))]  # yapf: disable
        before, after, swapped = runs
        same = self.pair_set.same
        self._check_plant(after, swapped)
        record: dict = dict(
            set=self.pair_set.name, genuine=int(same.sum()), impostors=int((~same).sum()), protocol_hash=protocol.hash, far=self.far,
            max_drop=self.max_drop, accuracy=self._compare('accuracy', *map(self._right, (before, after))),
            d_prime={name: d_prime(scores[same], scores[~same]) for name, scores in zip(('before', 'after', 'swapped'), runs, strict=True)})
        if self.far * (~same).sum() >= 1:
            record['tar'] = self._compare(f'TAR@FAR={self.far:g}', *(scores[same] > self._bar(scores) for scores in (before, after)))
        return record

    def _embed(self, embed: Embed, swap: bool) -> np.ndarray:
        images = self.images[..., ::-1] if swap else self.images
        return np.concatenate([embed(np.ascontiguousarray(images[at:at + self.batch_size]))[0]
                               for at in range(0, len(images), self.batch_size)])  # yapf: disable

    def _check_plant(self, after: np.ndarray, swapped: np.ndarray) -> None:
        genuine = int(self.pair_set.same.sum())
        if min(genuine, len(self.pair_set) - genuine) < _LEAST:
            raise GateError(f'{self.pair_set.name}: {genuine} genuine and {len(self.pair_set) - genuine} impostor pairs: too few to know '
                            f'how sure a difference of theirs is; at least {_LEAST} of each are needed')
        found = d_prime_difference(after, swapped, self.pair_set.same)
        if abs(found.z) >= _NOTICED:
            return
        needed = math.ceil(len(self.pair_set) * (_NOTICED / max(abs(found.z), 1e-2))**2)
        raise GateError(f"{self.pair_set.name}: with red and blue swapped, d' changes by {found.difference:+.3f} only, {abs(found.z):.1f} "
                        f'standard errors on {len(self.pair_set):,} pairs: this set could not tell a wrong colour order. A set of the same '
                        f'kind needs about {needed:,} pairs')

    def _right(self, scores: np.ndarray) -> np.ndarray:
        """Bool [N]: whether each pair is decided rightly at its fold's threshold."""
        distance, same, fold = 2 - 2 * scores, self.pair_set.same, self.pair_set.fold
        threshold = np.asarray(fold_accuracy(distance, same, fold, 'grid').threshold)
        return (distance < threshold[fold]) == same

    def _bar(self, scores: np.ndarray) -> float:
        """The impostor score above which no more than ``far`` of them lie."""
        impostors = np.sort(scores[~self.pair_set.same])[::-1]
        return float(impostors[math.floor(self.far * len(impostors) + 1e-9)])

    def _compare(self, name: str, before: np.ndarray, after: np.ndarray) -> dict:
        only_before, only_after, p_value = mcnemar_test(before, after)
        drop = float(before.mean() - after.mean())
        if drop > self.max_drop or (drop > 0 and p_value < _SIGNIFICANT):
            raise GateError(f'{self.pair_set.name}: {name} fell from {before.mean():.2%} to {after.mean():.2%} '
                            f'({only_before} pairs lost, {only_after} won, p = {p_value:.2g}); at most {self.max_drop:.2%} may be lost, '
                            'and no more than chance explains')
        return dict(before=float(before.mean()), after=float(after.mean()), drop=drop, only_before=only_before, only_after=only_after,
                    p_value=p_value)

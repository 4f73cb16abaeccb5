"""Identification and verification among a million distractors: MegaFace challenge 1 with FaceScrub's probes.

I. Kemelmacher-Shlizerman et al., "The MegaFace Benchmark: 1 Million Faces for Recognition at Scale", CVPR 2016; lists of noise and what is
done with them: https://github.com/deepinsight/insightface, recognition/_evaluation_/megaface.
"""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mmface.functional.cosine import ExactCosine
from mmface.functional.cosine_block import cosine_blocks
from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.highest_scores import HighestScores
from mmface.functional.intervals import wilson_interval
from mmface.functional.operating_point import tar_at_far
from mmface.functional.ranking import raise_others
from mmface.functional.roc import Roc, allowed
from mmface.structures import SearchSet

from .search_protocol import SearchProtocol

NOISES = ('keep', 'remove', 'replace')


class Trials(NamedTuple):
    """``unit`` float64 [P, D], the vectors of the probes; of each trial the ``probe`` and the ``mate`` among them, int64 [N]."""
    unit: np.ndarray
    probe: np.ndarray
    mate: np.ndarray


class MegaFaceIdentification(SearchProtocol):
    """Rank 1 of one mate among distractors, and TAR at FAR of mates against distractors.

    Conventions:

    - A trial is a probe and *one* other image of the person, enrolled with all distractors: n images of a person make n (n - 1) trials. It
      is a hit when no distractor scores as high as the mate: equal scores are a miss, ``ties`` counts them. (FaceX-Zoo has them as hits.)
    - Genuine scores are those of the trials, impostor scores those of all probes with all distractors; TAR at FAR is the largest TAR whose
      FAR does not exceed the target.
    - What the set's list of noise names is kept; removed, probes and distractors alike; or ``'replace'``, as InsightFace's
      ``remove_noises.py`` does: a noisy probe becomes the centre of the unit embeddings of its person's other images, which then matches
      almost perfectly, and a noisy distractor is moved where it matches nobody. (Theirs adds random numbers up to 0.001 to the centre.)
    - Intervals take trials as independent; they share images, so these are too narrow.

    Args:
        flip: see :class:`SearchProtocol`.
        noise: ``'keep'``, ``'remove'`` or ``'replace'``.
        sizes: numbers of distractors to report, each time the first of the set's list; None for all of them.
        fars: targets of TAR@FAR, fractions.
    """
    name = 'megaface_identification'

    def __init__(self, flip: str | None = None, noise: str = 'keep', sizes: Sequence[int] | None = None,
                 fars: Sequence[float] = (1e-6, )) -> None:
        super().__init__(flip)
        if noise not in NOISES:
            raise ValueError(f'noise is {noise!r}, expected one of {", ".join(map(repr, NOISES))}')
        self.noise, self.sizes, self.fars = noise, None if sizes is None else tuple(sorted(sizes)), tuple(map(float, fars))

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return super().switches | dict(noise=self.noise, sizes=self.sizes and list(self.sizes), fars=list(self.fars), tar_at_far='strict')

    def check(self, search_set: SearchSet) -> None:
        """Probes that are their own gallery, distractors, and a list of noise where one is needed."""
        if not np.array_equal(np.sort(search_set.probe), np.sort(search_set.gallery)):
            raise ValueError(f'{search_set.name}: the images of the probes are their own gallery in this protocol, but the set has another')
        if self.noise != 'keep' and search_set.noisy is None:
            raise ValueError(f'{search_set.name} has no list of noise: noise is {self.noise!r}')
        largest = self._sizes(search_set)[-1]
        if not 0 < largest <= len(search_set.distractor):
            raise ValueError(f'{search_set.name} has {len(search_set.distractor)} distractors, asked for are {largest}')

    def numbers(self, search_set: SearchSet, rows: EmbeddingRows) -> dict:
        """What the trials say.

        ``probes, trials``; of the largest size ``distractors`` (less the noisy ones), ``rank1, rank1_ci95, ties``, and ``tar_at_far``: a
        list of ``far_target, far, similarity, tar, tar_ci95, genuine, impostors, false_accepts, resolvable``; ``sizes``: this of each size.
        """
        noisy, sizes = self._noisy(search_set), self._sizes(search_set)
        trials = self._trials(search_set, rows, noisy)
        genuine = _pair_scores(trials)
        clean = ~noisy[search_set.distractor]
        highest = HighestScores(max(allowed(far, len(trials.unit) * sizes[-1]) for far in (0, *self.fars)) + 1)
        other = np.full(len(trials.unit), -np.inf)
        found = {}
        for begin, end in zip((0, *sizes[:-1]), sizes, strict=True):
            for block in cosine_blocks(trials.unit, rows, search_set.distractor[begin:end][clean[begin:end]]):
                raise_others(block, other[block.probes])
                highest.add(block)
            found[str(end)] = self._size(trials, genuine, other, highest, int(clean[:end].sum()))
        return dict(
            probes=len(trials.unit), trials=len(genuine), **found[str(sizes[-1])], sizes=found,
            intervals='trials are treated as independent')

    def _sizes(self, search_set: SearchSet) -> tuple[int, ...]:
        return self.sizes or (len(search_set.distractor), )

    def _noisy(self, search_set: SearchSet) -> np.ndarray:
        """Bool [M]: the images that something is done about."""
        if self.noise == 'keep' or search_set.noisy is None:
            return np.zeros(len(search_set.paths), bool)
        return search_set.noisy

    def _trials(self, search_set: SearchSet, rows: EmbeddingRows, noisy: np.ndarray) -> Trials:
        probe = search_set.probe[~(noisy[search_set.probe] & (self.noise == 'remove'))]
        person, clean, unit = search_set.ids[probe], ~noisy[probe], rows.unit(probe)
        for at in np.flatnonzero(~clean).tolist():
            same = (person == person[at]) & clean
            if not same.any():
                raise ValueError(f'{search_set.name}: all images of person {person[at]} are on the list of noise: they have no centre')
            centre = unit[same].mean(0)
            unit[at] = centre / np.linalg.norm(centre)
        first, second = np.nonzero(person[:, None] == person)
        if not (first != second).any():
            raise ValueError(f'{search_set.name}: no person has two images among {len(probe)} probes')
        return Trials(unit, first[first != second], second[first != second])

    def _size(self, trials: Trials, genuine: np.ndarray, other: np.ndarray, highest: HighestScores, distractors: int) -> dict:
        """The numbers so far, with so many distractors."""
        hits = int((genuine > other[trials.probe]).sum())
        roc = Roc(np.sort(genuine), highest.falling()[::-1], len(trials.unit) * distractors)
        return dict(
            distractors=distractors, rank1=hits / len(genuine), rank1_ci95=list(wilson_interval(hits, len(genuine))),
            ties=int((genuine == other[trials.probe]).sum()), tar_at_far=[tar_at_far(roc, far).to_dict() for far in self.fars])


def _pair_scores(trials: Trials) -> np.ndarray:
    operand = ExactCosine.operand(trials.unit)
    parts = (slice(start, start + 256) for start in range(0, len(trials.probe), 256))  # they stay in cache
    return np.concatenate([ExactCosine.pairs(operand[trials.probe[part]], operand[trials.mate[part]]) for part in parts])

"""Writes procedural people as a training set and a pair set of other people."""
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from ..formats.lfw_pairs import ImageKey
from ..formats.recordio.writer import write_training_set
from .procedural_faces import ProceduralFaces


@dataclass(frozen=True)
class SetSizes:
    """How much to write.

    Attributes:
        people: to train on.
        pictures: of each of them.
        test_people: to test on, none of the above; an equal number in each fold.
        test_pictures: of each of them.
        folds: of the pair set; no person is in two.
        pairs: of all folds together, half of them genuine.

    Raises:
        ValueError: where people, pictures or folds are too few for the pairs.
    """
    people: int = 600
    pictures: int = 16
    test_people: int = 300
    test_pictures: int = 5
    folds: int = 10
    pairs: int = 3000

    def __post_init__(self) -> None:
        if min(self.people, self.pictures, self.folds) < 1 or self.pairs < 1 or self.pairs % (2 * self.folds):
            raise ValueError(f'{self}: people, pictures and folds count from 1, and pairs must be a multiple of twice the folds')
        crowd, each = self.test_people // self.folds, self.pairs // self.folds // 2
        possible = min(crowd * self.test_pictures * (self.test_pictures - 1) // 2, crowd * (crowd - 1) // 2)
        if self.test_people % self.folds or each > possible:
            raise ValueError(f'{self}: {crowd} people a fold with {self.test_pictures} pictures each give at most {possible} different '
                             f'pairs of a kind, not {each}: take more people, in a multiple of the folds, or fewer pairs')


def write_sets(out: Path, seed: int = 0, sizes: SetSizes | None = None) -> None:
    """Writes ``train.rec``, ``train.idx`` and ``property``, and in LFW's layout ``test/<Name>/<Name>_0001.jpg`` and ``test/pairs.txt``.

    Args:
        out: a folder, made where it is missing.
        seed: of people, pictures and pairs.
        sizes: how much; the default is what ``configs/demo`` trains on.
    """
    sizes = sizes or SetSizes()
    faces = ProceduralFaces(seed)
    out.mkdir(parents=True, exist_ok=True)
    write_training_set(out / 'train.rec',
                       ((faces.jpeg(person, at) for at in range(sizes.pictures)) for person in range(sizes.people)))
    strangers = range(sizes.people, sizes.people + sizes.test_people)
    for person in strangers:
        for at in range(sizes.test_pictures):
            file = out / 'test' / f'{_key(person, at).stem}.jpg'
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(faces.jpeg(person, at))
    (out / 'test' / 'pairs.txt').write_text(_pairs_text(strangers, sizes, np.random.default_rng(seed)))


def _key(person: int, picture: int) -> ImageKey:
    return ImageKey(f'face{person:05d}', picture + 1)


def _pairs_text(people: range, sizes: SetSizes, rng: np.random.Generator) -> str:
    """LFW's list: a header, then fold after fold its genuine and its impostor pairs, no pair twice."""
    each, crowd = sizes.pairs // sizes.folds // 2, sizes.test_people // sizes.folds
    lines = [f'{sizes.folds}\t{each}']
    for fold in range(sizes.folds):
        members = people[fold * crowd:(fold + 1) * crowd]
        genuine = [(person, *pair) for person in members for pair in combinations(range(sizes.test_pictures), 2)]
        for at in np.sort(rng.permutation(len(genuine))[:each]):
            person, first, second = genuine[at]
            lines.append(f'{_key(person, 0).person}\t{first + 1}\t{second + 1}')
        couples = list(combinations(members, 2))
        for at in np.sort(rng.permutation(len(couples))[:each]):
            first, second = (_key(person, int(rng.integers(sizes.test_pictures))) for person in couples[at])
            lines.append(f'{first.person}\t{first.number}\t{second.person}\t{second.number}')
    return '\n'.join(lines) + '\n'

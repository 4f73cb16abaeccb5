"""From one folder of aligned faces to a training set and a pair set of people who are not in it."""
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mmface.datasets.formats.folder import ImageFolder
from mmface.datasets.formats.lfw_pairs import ImageKey

LEAST = 2  # people a fold: one has nobody to be confused with


@dataclass(frozen=True)
class Split:
    """What :func:`split_people` wrote.

    Attributes:
        train_people, train_images: in ``OUT/faces``.
        test_people: in ``OUT/pairs``.
        folds, pairs: of ``OUT/pairs/pairs.txt``; half of the pairs are genuine.
    """
    train_people: int
    train_images: int
    test_people: int
    folds: int
    pairs: int


def split_people(faces: Path, out: Path, people: int | None = None, pairs: int = 3000, folds: int = 10, seed: int = 0) -> Split:
    """Copies ``faces`` into ``out/faces/<person>/...`` and ``out/pairs/<Name>/<Name>_0001.jpg`` with LFW's ``pairs.txt``.

    A person is in one of the two, and in one fold: what is measured is how well the network tells strangers apart. The same arguments give
    the same files. Everything is written beside ``out`` and renamed at the end.

    Args:
        faces: aligned crops, a directory a person.
        out: a folder that does not exist.
        people: how many to test with, drawn from those with several images. Default: a fifth of all, and at least two a fold.
        pairs: at most, of all folds together, half of them genuine.
        folds: of the pair set.
        seed: of the draw.

    Raises:
        FileNotFoundError: ``faces`` is no folder.
        FileExistsError: ``out`` exists.
        ValueError: too few people with several images.
        DataFormatError: ``faces`` is no folder of images, a directory a person.
    """
    if not faces.is_dir():
        raise FileNotFoundError(f'{faces}: no such folder')
    if out.exists():
        raise FileExistsError(f'{out} exists already: remove it or name another folder')
    if folds < 1 or pairs < 2 * folds:
        raise ValueError(f'{folds} folds of {pairs} pairs: there is at least one fold, and a pair of each kind in it')
    images = _images(faces)
    rng = np.random.default_rng(seed)
    held_back = _draw_people(images, people or max(len(images) // 5, LEAST * folds), folds, rng)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f'.{out.name}-', dir=out.parent) as temporary:
        built = Path(temporary) / 'built'
        strangers = {person for fold in held_back for person in fold}
        train = {person: files for person, files in images.items() if person not in strangers}
        for files in train.values():
            for file in files:
                _copy(file, built / 'faces' / file.relative_to(faces))
        for person in strangers:
            for number, file in enumerate(images[person], 1):
                _copy(file, (built / 'pairs' / ImageKey(_name(person), number).stem).with_suffix(file.suffix.lower()))
        lines = draw_pairs([{_name(person): len(images[person]) for person in fold} for fold in held_back], pairs, rng)
        (built / 'pairs/pairs.txt').write_text('\n'.join(lines) + '\n', encoding='utf-8')
        built.rename(out)
    return Split(len(train), sum(map(len, train.values())), len(strangers), folds, len(lines) - 1)


def draw_pairs(folds: list[dict[str, int]], pairs: int, rng: np.random.Generator) -> list[str]:
    """LFW's list of pairs: a header, then fold after fold as many genuine as impostor pairs; no pair occurs twice.

    Args:
        folds: of each, the people and how many images they have, two or more of each.
        pairs: at most, of all folds together; fewer where a fold has fewer.
        rng: what draws.
    """
    couples = [_couples(fold) for fold in folds]
    each = min(pairs // len(folds) // 2, *(len(kind) for both in couples for kind in both))
    lines = [f'{len(folds)}\t{each}']
    for fold, (genuine, impostors) in zip(folds, couples, strict=True):
        images = [(name, number) for name, count in fold.items() for number in range(1, count + 1)]
        for first, second in genuine[np.sort(rng.permutation(len(genuine))[:each])]:
            lines.append('\t'.join(map(str, (*images[first], images[second][1]))))
        for first, second in impostors[np.sort(rng.permutation(len(impostors))[:each])]:
            lines.append('\t'.join(map(str, (*images[first], *images[second]))))
    return lines


def _couples(fold: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """All couples ``[N, 2]`` of a fold's images, counted person after person: of one person, and of two."""
    person = np.repeat(np.arange(len(fold)), list(fold.values()))
    couples = np.stack(np.triu_indices(len(person), 1), 1)
    same = person[couples[:, 0]] == person[couples[:, 1]]
    return couples[same], couples[~same]


def _images(faces: Path) -> dict[str, list[Path]]:
    """The images of every person."""
    records = ImageFolder(faces)
    images: dict[str, list[Path]] = {person: [] for person in records.classes}
    names = {label: person for person, label in records.classes.items()}
    for file, label in zip(records.files, records.labels.tolist(), strict=True):
        images[names[label]].append(faces / file)
    if len({_name(person) for person in images}) < len(images):
        raise ValueError(f'{faces}: two people have the same name once blanks and slashes are underscores: rename one')
    return images


def _draw_people(images: dict[str, list[Path]], people: int, folds: int, rng: np.random.Generator) -> list[list[str]]:
    """Who is tested, fold by fold."""
    able = [person for person, files in images.items() if len(files) > 1]
    if people < LEAST * folds or people > len(able) or people >= len(images):
        raise ValueError(f'{people} people to test with in {folds} folds: it takes {LEAST * folds} with several images each and somebody '
                         f'left to train on; of {len(images)} people {len(able)} have several images. '
                         'Ask for fewer folds or people (--folds, --people)')
    drawn = [able[at] for at in rng.permutation(len(able))[:people]]
    return [sorted(drawn[at::folds]) for at in range(folds)]


def _name(person: str) -> str:
    """As it stands in a list whose columns are parted by blanks, and in one directory."""
    return re.sub(r'[\s/]+', '_', person)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)

"""The folder that all trainings of a comparison read."""
import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mmface.apis.lfw_images import PARTS, find_images, group_people, hold_out, read_image
from mmface.datasets.formats import DataFormatError
from mmface.datasets.formats.recordio.writer import write_training_set
from mmface.datasets.procedural import ProceduralFaces
from mmface.structures import PairSet

from .compared_pairs import draw_listed_pairs

TRAIN, TEST = 'train/faces.rec', 'test/faces.rec'  # a folder each, as each has its property file


@dataclass(frozen=True)
class ArenaData:
    """People to train on, and others to test with.

    Attributes:
        folder: holds ``train/faces.rec`` and ``test/faces.rec``, each with its index and ``property``, and ``data.json``.
        name: ``'lfw'`` or ``'procedural'``.
        people, images: of the training set.
        listed: a balanced list of pairs of the M test images, in ten parts, with the names of their people.
        sha256: of all that is in it.
    """
    folder: Path
    name: str
    people: int
    images: int
    listed: PairSet
    sha256: str

    @property
    def persons(self) -> np.ndarray:
        """Who is in each test image, int64 ``[M]``, numbered in the order of their names."""
        return np.unique(np.asarray(self.listed.identities), return_inverse=True)[1]


def open_data(folder: Path) -> ArenaData:
    """Reads what :func:`write_lfw` or :func:`write_procedural` wrote.

    Raises:
        DataFormatError: no such folder, or its files are not those that were written.
    """
    try:
        facts = json.loads((folder / 'data.json').read_text())
        listed = PairSet(facts['name'], facts['test']['images'], facts['test']['pairs'], facts['test']['same'], facts['test']['part'],
                         facts['test']['people'])
        found = ArenaData(folder, facts['name'], facts['train']['people'], facts['train']['images'], listed, facts['sha256'])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataFormatError(folder, 'data.json', f'{type(error).__name__}: {error}', 'remove the folder to have it made again') from None
    if _sha256(folder, facts) != found.sha256:
        raise DataFormatError(folder, value='the files are not those that were written', hint='remove the folder to have it made again')
    return found


def write_lfw(out: Path, images: Path, pairs: Path, fold: int = 10) -> None:
    """LFW without one fold's people to train on, and these people to test with.

    Trained on is everybody with at least two images whom no pair of the fold names (fold 10: 1,505 people, 7,829 images); the test has all
    images of the others (451 people, 1,611 images) and, as the balanced list, the fold's 600 pairs, cut in file order.

    Args:
        out: a folder that does not exist.
        images: aligned images in LFW's layout, a folder or tar archive.
        pairs: LFW's ``pairs.txt``.
        fold: which fold to hold out, from 1.

    Raises:
        DataFormatError: images or list that cannot be used.
    """
    matched, mismatched = hold_out(pairs, fold)
    found = find_images(images)
    held = {key.person for pair in matched + mismatched for key in pair[:2]}
    train, test = group_people(found, held, 2), group_people(found, {key.person for key in found} - held, 1)
    rows = {key: at for at, key in enumerate(key for keys in test.values() for key in keys)}
    missing = [key.stem for pair in matched + mismatched for key in pair[:2] if key not in rows]
    if missing or not train:
        raise DataFormatError(images, value=f'{len(missing)} images of fold {fold} are missing, {len(train)} people are left to train on',
                              hint=', '.join(missing[:5]))
    _, size = read_image(images, next(iter(found.values())))
    part = np.concatenate([np.arange(len(kind)) * PARTS // len(kind) for kind in (matched, mismatched)])
    listed = [[rows[pair.first], rows[pair.second]] for pair in matched + mismatched]
    same = [pair.same for pair in matched + mismatched]
    encoded, tested = (([read_image(images, found[key], size)[0] for key in keys] for keys in kind.values()) for kind in (train, test))
    _write(out, 'lfw', encoded, tested, {key.stem: key.person for key in rows}, (listed, same, part.tolist()), size)


def write_procedural(out: Path, people: int, pictures: int, test_people: int, test_pictures: int) -> None:
    """Procedural people to train on, and others to test with; the balanced list has up to 600 pairs."""
    faces = ProceduralFaces(0)
    strangers = range(people, people + test_people)
    names = {f'face{person:05d}_{at:04d}': f'face{person:05d}' for person in strangers for at in range(test_pictures)}
    persons = np.unique(list(names.values()), return_inverse=True)[1]
    pairs, same, part = draw_listed_pairs(persons, 600, PARTS)
    _write(out, 'procedural',
           ([faces.jpeg(person, at) for at in range(pictures)] for person in range(people)),
           ([faces.jpeg(person, at) for at in range(test_pictures)] for person in strangers),
           names, (pairs.tolist(), same.tolist(), part.tolist()), (112, 112))  # yapf: disable


def _write(out: Path, name: str, train: Iterable[Sequence[bytes]], test: Iterable[Sequence[bytes]], test_images: Mapping[str, str],
           listed: tuple[list, list, list], size: tuple[int, ...]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f'.{out.name}-', dir=out.parent) as temporary:
        built = Path(temporary) / 'built'
        for file in (TRAIN, TEST):
            (built / file).parent.mkdir(parents=True)
        images, people = write_training_set(built / TRAIN, train, (size[0], size[1]))
        write_training_set(built / TEST, test, (size[0], size[1]))
        facts: dict = dict(
            name=name, train=dict(people=people, images=images),
            test=dict(images=list(test_images), people=list(test_images.values()), pairs=listed[0], same=listed[1], part=listed[2]))
        (built / 'data.json').write_text(json.dumps(dict(facts, sha256=_sha256(built, facts))))
        built.rename(out)


def _sha256(folder: Path, facts: dict) -> str:
    digest = hashlib.sha256(json.dumps({key: facts[key] for key in ('name', 'train', 'test')}, sort_keys=True).encode())
    for name in (TRAIN, TEST):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()

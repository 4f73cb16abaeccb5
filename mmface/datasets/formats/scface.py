"""SCface: photos of a police camera looked for in pictures of surveillance cameras at three distances.

Grgic, Delac and Grgic, SCface - surveillance cameras face database, Multimedia Tools and Applications 51, 2011, https://www.scface.org.
"""
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mmface.structures import SearchSet

from .common.image_files import ImageFiles
from .errors import DataFormatError, DataFormatWarning
from .table import EVALS

_MUGSHOTS, _FLAT, _NESTED = 'mugshot_frontal_cropped_all', 'surveillance_cameras_all', 'surveillance_cameras_distance_'
_MUGSHOT = re.compile(r'([0-9]{3})_frontal\.(?:jpe?g|png)', re.IGNORECASE)
_SEEN = re.compile(r'([0-9]{3})_cam([1-7])_([1-3])\.(?:jpe?g|png)', re.IGNORECASE)
_INFRARED_MUGSHOT = re.compile(r'[0-9]{3}_cam8\.(?:jpe?g|png)', re.IGNORECASE)
_VISIBLE = 5
_SHOWN = 3


@EVALS.register('scface')
class SCface(ImageFiles):
    """A folder with frontal mugshots ``<person>_frontal.jpg`` and pictures ``<person>_cam<camera>_<distance>.jpg``.

    The gallery is the mugshots, one a person, the probes are the pictures of the visible-light cameras 1 to 5, sorted by person, distance
    and camera. Infrared cameras (6 and 7) and infrared mugshots (cam8) stay out. ``set.condition`` is the distance of a probe: ``d1``
    (4.20 m), ``d2`` (2.60 m), ``d3`` (1.00 m).

    Mugshots lie in ``mugshot_frontal_cropped_all``, pictures in ``surveillance_cameras_distance_1/cam_1`` and so on, or in
    ``surveillance_cameras_all``; in flat releases all lie in the folder itself.

    Args:
        path: the folder.
        name: what results are called after.
        people: the people to keep, as the usual protocols train on some and test on the rest; by default all.

    Raises:
        DataFormatError: for a person with two mugshots or with none, two files of one picture, people that there are no pictures of.

    Warns:
        DataFormatWarning: for files with other names, which are left out.
    """

    def __init__(self, path: Path, name: str = 'scface', people: Sequence[int] | None = None) -> None:
        kept = None if people is None else set(people)
        mugshots = _read(path, [_MUGSHOTS if (path / _MUGSHOTS).is_dir() else '.'], _MUGSHOT, kept)
        pictures = {(person, distance, camera): file
                    for (person, camera, distance), file in _read(path, _camera_folders(path), _SEEN, kept).items() if camera <= _VISIBLE}
        seen = {person for person, *_ in pictures}
        if not seen:
            raise DataFormatError(path, value='no picture', hint='expected <person>_cam<camera>_<distance>.jpg')
        _refuse(path, 'no picture', (kept or set()) - seen)
        _refuse(path, 'no mugshot', seen - {person for person, in mugshots})
        probes, gallery = sorted(pictures), sorted(mugshots)
        super().__init__(path, [pictures[key] for key in probes] + [mugshots[key] for key in gallery])
        rows = np.arange(len(self))
        self.set = SearchSet(
            name=name, paths=[f'{path}/{file}' for file in self.files], probe=rows[:len(probes)], gallery=rows[len(probes):],
            distractor=rows[:0], ids=np.array([person for person, *_ in (*probes, *gallery)]),
            condition=[f'd{distance}' for _, distance, _ in probes])

    @staticmethod
    def sniff(path: Path) -> bool:
        if not path.is_dir():
            return False
        return (path / _MUGSHOTS).is_dir() or any(map(_SEEN.fullmatch, os.listdir(path)))


def _refuse(path: Path, value: str, people: set[int]) -> None:
    """Raises where there are people that lack something."""
    if people:
        named = ', '.join(f'{person:03d}' for person in sorted(people)[:_SHOWN])
        raise DataFormatError(path, value=f'{value} of {len(people)} people', hint=named + ' ...' * (len(people) > _SHOWN))


def _camera_folders(path: Path) -> list[str]:
    """Where the pictures are, relative to the folder: a full release has them twice."""
    nested = [f'{_NESTED}{distance}/cam_{camera}' for distance in (1, 2, 3) for camera in range(1, 8)]
    return [folder for folder in nested if (path / folder).is_dir()] or [_FLAT if (path / _FLAT).is_dir() else '.']


def _read(path: Path, folders: Sequence[str], pattern: re.Pattern, kept: set[int] | None) -> dict[tuple[int, ...], str]:
    """The files whose names fit, by the numbers in them, of which the first is the person."""
    found: dict[tuple[int, ...], str] = {}
    odd = []
    for file, name in _names(path, folders):
        match = pattern.fullmatch(name)
        if not match:
            odd += [] if any(known.fullmatch(name) for known in (_MUGSHOT, _SEEN, _INFRARED_MUGSHOT)) else [file]
            continue
        numbers = tuple(map(int, match.groups()))
        if kept is None or numbers[0] in kept:
            if numbers in found:
                raise DataFormatError(path, f'{found[numbers]} and {file}', 'two files of one picture', 'keep one')
            found[numbers] = file
    if odd:
        warnings.warn(DataFormatWarning(path, ', '.join(odd[:_SHOWN]), f'{len(odd)} files with other names', 'left out'), stacklevel=2)
    return found


def _names(path: Path, folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Path and name of every file, hidden ones and Windows' left out."""
    for folder in folders:
        for name in sorted(os.listdir(path / folder)):
            if (path / folder / name).is_file() and name[0] != '.' and name != 'Thumbs.db':
                yield name if folder == '.' else f'{folder}/{name}', name

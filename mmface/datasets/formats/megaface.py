"""MegaFace's challenge 1 with FaceScrub's probes: the lists of its development kit, and the noise lists of InsightFace.

Kemelmacher-Shlizerman and others, The MegaFace benchmark, CVPR 2016; noise lists of https://github.com/deepinsight/insightface,
recognition/_evaluation_/megaface.
"""
import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmface.structures import SearchSet

from .common.columns import read_names
from .common.image_files import ImageFiles
from .errors import DataFormatError, DataFormatWarning
from .table import EVALS

_PROBES, _DISTRACTORS = 'facescrub_features_list.json', 'megaface_features_list.json_'
_NOBODY = -1


@EVALS.register('megaface')
class MegaFace(ImageFiles):
    """A folder with ``templatelists/`` and, in ``data/``, the images and the lists of noise.

    Every FaceScrub image is probe and gallery: the protocol takes the one out when the other is looked for. ``set.ids`` number FaceScrub's
    people by name; distractors have -1. ``set.noisy`` marks what ``data/facescrub_noises.txt`` and ``data/megaface_noises.txt`` name, and
    is None where neither is there.

    Args:
        path: the folder, or FaceScrub's list alone.
        images: the folder that holds ``facescrub_images`` and ``megaface_images``; by default ``data``.
        name: what results are called after.
        size: the number of distractors, of those that there are lists for; by default the largest.
        part: which of the lists of that size, from 1.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for a list that is no JSON object, has no ``path``, or not one ``id`` a path; for missing images, with their number
            and the first few.

    Warns:
        DataFormatWarning: where there are no images, and where the noise list of FaceScrub names no probe.
    """

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 name: str = 'megaface',
                 size: int | None = None,
                 part: int = 1,
                 lists_only: bool = False) -> None:
        folder = path if path.is_dir() else path.parent
        probes, people = read_feature_list(folder / 'templatelists' / _PROBES if path.is_dir() else path, need_ids=True)
        distractors = read_feature_list(_list_of(folder / 'templatelists', size, part))[0] if path.is_dir() else []
        root = Path(images) if images is not None else folder / 'data'
        super().__init__(root, [*(f'facescrub_images/{file}' for file in probes), *(f'megaface_images/{file}' for file in distractors)])
        if not lists_only:
            self.require(images is not None or (root / 'facescrub_images').is_dir())
        ids = np.full(len(self), _NOBODY, np.int64)
        ids[:len(probes)] = np.unique(people, return_inverse=True)[1]
        probe, distractor = np.split(np.arange(len(self)), [len(probes)])
        self.set = SearchSet(name=name, paths=[f'{root}/{file}' for file in self.files], probe=probe, gallery=probe, distractor=distractor,
                             ids=ids, noisy=_noisy(folder / 'data', probes, distractors))

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.name == _PROBES or (path / 'templatelists' / _PROBES).is_file()


def read_feature_list(path: Path, need_ids: bool = False) -> tuple[list[str], list[str]]:
    """Paths and ids of a list of the development kit, ``{"path": [...], "id": [...]}``; without ids the second is empty.

    Raises:
        DataFormatError: for anything else.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataFormatError(path, value='no such file') from None
    except ValueError as error:
        raise DataFormatError(path, value='no JSON', hint=str(error)) from None
    if not isinstance(content, dict):
        raise DataFormatError(path, value=f'a JSON {type(content).__name__}', hint='expected an object with the lists "path" and "id"')
    for key in ('path', 'id') if need_ids else ('path', ):
        if key not in content:
            raise DataFormatError(path, value=f'key "{key}" missing', hint=f'found: {", ".join(content) or "none"}')
    paths, ids = content['path'], content.get('id', [])
    for key, values in (('path', paths), ('id', ids)):
        if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
            raise DataFormatError(path, f'key "{key}"', 'no list of texts')
    if len(ids) != len(paths) and (ids or need_ids):
        raise DataFormatError(path, value=f'{len(ids)} id{"s"[:len(ids) != 1]}, {len(paths)} path{"s"[:len(paths) != 1]}',
                              hint='expected one id a path')
    if len(set(paths)) != len(paths):
        twice = next(name for at, name in enumerate(paths) if name in paths[:at])
        raise DataFormatError(path, f'path {paths.index(twice)}', twice, 'an image stands in a list once')
    return paths, ids


def _list_of(folder: Path, size: int | None, part: int) -> Path:
    """The list of distractors that is asked for."""
    found = {(int(match[1]), int(match[2])) for file in folder.iterdir()
             if (match := re.fullmatch(re.escape(_DISTRACTORS) + '([0-9]+)_([0-9]+)', file.name))}
    sizes = sorted({count for count, number in found if number == part})
    if not sizes or (size is not None and size not in sizes):
        raise DataFormatError(folder, value=f'no {_DISTRACTORS}{"<size>" if size is None else size}_{part}',
                              hint=f'found: {", ".join(f"{count}_{number}" for count, number in sorted(found)) or "none"}')
    return folder / f'{_DISTRACTORS}{sizes[-1] if size is None else size}_{part}'


def _noisy(folder: Path, probes: Sequence[str], distractors: Sequence[str]) -> np.ndarray | None:
    """Which images the noise lists name: FaceScrub's by file name, MegaFace's by path."""
    facescrub, megaface = (folder / f'{kind}_noises.txt' for kind in ('facescrub', 'megaface'))
    if not facescrub.is_file() and not megaface.is_file():
        return None
    of_probes, of_distractors = _read_noises(facescrub), _read_noises(megaface)
    noisy = [name.rpartition('/')[2] in of_probes for name in probes]
    if of_probes and not any(noisy):
        warnings.warn(DataFormatWarning(facescrub, value=f'none of {len(of_probes)} names is a probe', hint='nothing would be cleaned'),
                      stacklevel=2)
    return np.array([*noisy, *(name in of_distractors for name in distractors)])


def _read_noises(path: Path) -> set[str]:
    """Names, the last column of a list whose comments begin with #; none where there is no list."""
    lines = read_names(path) if path.is_file() else []
    return {line.split('\t')[-1].strip() for line in lines if not line.startswith('#')}

"""TinyFace's identification test: probes looked for among gallery images and distractors, all faces of low resolution.

Cheng, Zhu and Gong, Low-resolution face recognition, ACCV 2018, https://qmul-tinyface.github.io.
"""
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmface.structures import SearchSet

from .common.image_files import ImageFiles
from .errors import DataFormatError
from .matlab.file import read_mat
from .table import EVALS

_PROBES, _GALLERY = 'probe_img_ID_pairs.mat', 'gallery_match_img_ID_pairs.mat'
_DISTRACTOR = -100  # as the authors' own code marks them
_SUFFIXES = ('.jpg', '.jpeg', '.png')


@EVALS.register('tinyface')
class TinyFace(ImageFiles):
    """A folder ``Testing_Set`` with ``Probe``, ``Gallery_Match``, ``Gallery_Distractor`` and the two lists, which are MATLAB files.

    Probes and gallery come in the order of the lists, distractors sorted; their id is -100. The person is the list's, not the beginning
    of the file name.

    Args:
        path: the folder, or the one that holds it; or a list of probes alone.
        images: the folder of the three folders of images; by default that of the lists.
        name: what results are called after.
        lists_only: does not look whether the images are there; there are then no distractors, which are in no list.

    Raises:
        DataFormatError: naming the row, from 1, for a broken list; for missing images, with their number and the first few.

    Warns:
        DataFormatWarning: where there are no images.
    """

    def __init__(self, path: Path, images: str | Path | None = None, name: str = 'tinyface', lists_only: bool = False) -> None:
        lists = path / 'Testing_Set' if (path / 'Testing_Set').is_dir() else path if path.is_dir() else path.parent
        root = Path(images) if images is not None else lists
        probes, probe_ids = read_people(lists / _PROBES if path.is_dir() else path, 'probe')
        gallery, gallery_ids = read_people(lists / _GALLERY, 'gallery') if path.is_dir() else ([], np.empty(0, np.int64))
        distractors = [] if lists_only else _list_images(root / 'Gallery_Distractor')
        super().__init__(root, [*(f'Probe/{file}' for file in probes), *(f'Gallery_Match/{file}' for file in gallery),
                                *(f'Gallery_Distractor/{file}' for file in distractors)])
        if not lists_only:
            self.require(images is not None or any((root / folder).is_dir() for folder in ('Probe', 'Gallery_Match', 'Gallery_Distractor')))
        probe, match, distractor = np.split(np.arange(len(self)), [len(probes), len(probes) + len(gallery)])
        self.set = SearchSet(name=name, paths=[f'{root}/{file}' for file in self.files], probe=probe, gallery=match, distractor=distractor,
                             ids=np.concatenate([probe_ids, gallery_ids, np.full(len(distractor), _DISTRACTOR)]))

    @staticmethod
    def sniff(path: Path) -> bool:
        if path.is_file():
            return path.suffix == '.mat' and '_protocol_' not in path.name  # those are AgeDB's
        return any((folder / _PROBES).is_file() for folder in (path, path / 'Testing_Set'))


def read_people(path: Path, kind: str) -> tuple[list[str], np.ndarray]:
    """File names and ids, int64, of a list: the cell ``{kind}_set`` and the numbers ``{kind}_ids``, in a column or in a row.

    Raises:
        DataFormatError: naming the row, from 1.
    """
    cells, numbers = (values.ravel() for values in read_mat(path, f'{kind}_set', f'{kind}_ids'))
    if len(cells) != len(numbers):
        raise DataFormatError(path, value=f'{len(cells)} names, {len(numbers)} id{"s"[:len(numbers) != 1]}', hint='expected one id a name')
    if numbers.dtype.kind not in 'iuf':
        raise DataFormatError(path, f'{kind}_ids', f'values of type {numbers.dtype}', 'expected whole numbers')
    for row, number in enumerate(numbers.tolist(), 1):
        if not float(number).is_integer():
            raise DataFormatError(path, f'row {row}', f'id {number}', 'expected a whole number')
        if number == _DISTRACTOR:
            raise DataFormatError(path, f'row {row}', f'id {_DISTRACTOR} is the distractor label', f'a {kind} image shows somebody')
    return _names(path, cells), numbers.astype(np.int64)


def _names(path: Path, cells: np.ndarray) -> list[str]:
    rows: dict[str, int] = {}
    for row, cell in enumerate(cells, 1):
        name = str(cell.item()) if isinstance(cell, np.ndarray) and cell.size == 1 and cell.dtype.kind == 'U' else ''
        if not name or name.startswith('.') or set('/\\\0') & set(name):
            raise DataFormatError(path, f'row {row}', f'name {str(cell)[:80]!r}', 'expected the name of an image file')
        if rows.setdefault(name, row) != row:
            raise DataFormatError(path, f'rows {rows[name]} and {row}', name, 'an image stands in a list once')
    return list(rows)


def _list_images(folder: Path) -> Sequence[str]:
    """The names of the images of a folder, sorted."""
    return sorted(name for name in os.listdir(folder) if name.lower().endswith(_SUFFIXES) and name[0] != '.') if folder.is_dir() else []

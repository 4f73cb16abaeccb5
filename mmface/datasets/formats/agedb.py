"""AgeDB with its protocols of pairs that are 5, 10, 20 or 30 years apart.

Moschoglou, Papaioannou, Sagonas, Deng, Kotsia and Zafeiriou, AgeDB, CVPR Workshops 2017.
"""
import re
from pathlib import Path
from typing import Any

import numpy as np

from .common.pair_lists import Pair, PairList, check_name, find_folder, warn_of_oddities
from .errors import DataFormatError
from .matlab.file import read_mat
from .table import EVALS

_LIST = re.compile(r'.*protocol_([0-9]+)_years\.mat')
_NAME = re.compile(r'([0-9]+)_(.+)_[0-9]+_[a-zA-Z]')


@EVALS.register('agedb')
class AgeDB(PairList):
    """``04_FINAL_protocol_30_years.mat`` and the images ``<n>_<person>_<age>_<m|f>.jpg``.

    The folds are the splits of the file. ``set.paths`` are the images that the pairs name, in the order of their numbers.

    Args:
        path: the ``.mat``, or the folder that holds it.
        images: the folder of the images; by default ``03_Protocol_Images`` beside the list, or where the files are found.
        years: which of the protocols in a folder.
        name: what results are called after; by default ``'agedb_30'`` and so on.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for a broken list, naming split and pair, from 1; for missing images, with their number and the first few.
    """

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 years: int = 30,
                 name: str | None = None,
                 lists_only: bool = False) -> None:
        pair_list = _find_list(path, years) if path.is_dir() else path
        match = _LIST.fullmatch(pair_list.name)
        splits = read_mat(pair_list, 'splits')[0].ravel()
        pairs = [pair for fold, split in enumerate(splits) for pair in _read_split(pair_list, fold, split)]
        if not pairs:
            raise DataFormatError(pair_list, value='no pairs', hint='expected ten splits')
        warn_of_oddities(pair_list, pairs, _person)
        stems = sorted({stem for pair in pairs for stem in pair[:2]}, key=_number)
        files = [f'{stem}.jpg' for stem in stems]
        found = Path(images) if images is not None else find_folder(pair_list.parent, files, ['03_Protocol_Images'])
        super().__init__(name or f'agedb_{match[1] if match else years}', found or pair_list.parent, stems, files, pairs,
                         list(map(_person, stems)))
        if not lists_only:
            self.require(found is not None)

    @staticmethod
    def sniff(path: Path) -> bool:
        return any(path.glob('*protocol_*_years.mat')) if path.is_dir() else bool(_LIST.fullmatch(path.name))


def _find_list(folder: Path, years: int) -> Path:
    found = sorted(folder.glob(f'*protocol_{years}_years.mat'))
    if len(found) != 1:
        raise DataFormatError(folder, value=f'{len(found)} lists of the protocol of {years} years',
                              hint='expected 04_FINAL_protocol_30_years.mat, or another one and years=')
    return found[0]


def _read_split(path: Path, fold: int, split: Any) -> list[Pair]:
    """The pairs of a struct ``pairs`` (cell ``[2, N]`` of structs with a ``name``), ``labels`` (``[1, N]``, 1 or -1)."""
    where = f'split {fold + 1}'
    try:
        cells, labels = split['pairs'].item(), np.asarray(split['labels'].item(), np.float64).ravel()
        first, second = ([_read_name(cell) for cell in row] for row in cells)
    except (ValueError, TypeError, IndexError, AttributeError, KeyError) as error:
        raise DataFormatError(path, where, f'{type(error).__name__}: {error}', 'expected pairs [2, N] and labels [1, N]') from None
    if len(labels) != len(first):
        raise DataFormatError(path, where, f'{len(first)} pairs, {len(labels)} labels', 'expected as many')
    pairs = []
    for at, (one, other, label) in enumerate(zip(first, second, labels, strict=True), 1):
        place = f'{where} pair {at}'
        if label not in (1, -1):
            raise DataFormatError(path, place, f'label {label:g}', 'expected 1 or -1')
        pairs.append(Pair(check_name(path, place, one), check_name(path, place, other), bool(label == 1), fold, place))
    return pairs


def _read_name(cell: Any) -> str:
    """Of a struct with a name, or of a name."""
    return str((cell['name'].item() if cell.dtype.names else cell).item())


def _person(stem: str) -> str:
    """Names may have underscores, so both ends are cut off."""
    match = _NAME.fullmatch(stem)
    return match[2] if match else stem


def _number(stem: str) -> tuple[int, str]:
    match = _NAME.fullmatch(stem)
    return int(match[1]) if match else 0, stem

"""Racial Faces in the Wild: four sets like LFW's, one a race, to be compared with one another.

Wang, Deng, Hu, Tao and Huang, Racial Faces in the Wild, ICCV 2019, http://www.whdeng.cn/RFW/.
"""
import warnings
from pathlib import Path

from .common.pair_lists import Pair, PairList, read_lines
from .errors import DataFormatError, DataFormatWarning
from .lfw import find_image
from .lfw_pairs import read_pairs
from .table import EVALS

_RACES = ('African', 'Asian', 'Caucasian', 'Indian')
_FOLDS = 10


@EVALS.register('rfw')
class RFW(PairList):
    """``txts/<race>/<race>_pairs.txt``, without LFW's first line, and ``data/<race>/<person>/<person>_0001.jpg``.

    One set over all races: ``set.groups`` has the race of each image, and the folds are ten within each race, by position in its list.
    People are called ``<race>/<person>``.

    Args:
        path: the folder that holds ``txts``.
        images: the folder that holds the races; by default ``data`` or ``path``.
        race: one race instead of all.
        name: what results are called after; by default ``'rfw'`` or ``'rfw_<race>'``.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for a broken list, naming the line; for missing images, with their number and the first few.
    """

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 race: str | None = None,
                 name: str | None = None,
                 lists_only: bool = False) -> None:
        lists = {file.parent.name: file for file in sorted(path.glob('txts/*/*_pairs.txt')) if file.name == f'{file.parent.name}_pairs.txt'}
        if not lists or (race is not None and race not in lists):
            raise DataFormatError(path, value=f'no txts/{race or "<race>"}/{race or "<race>"}_pairs.txt',
                                  hint=f'found the races: {", ".join(lists) or "none"}')
        if race is None and set(lists) != set(_RACES):
            warnings.warn(DataFormatWarning(path, value=f'races {", ".join(lists)}', hint=f'RFW has {", ".join(_RACES)}'), stacklevel=2)
        pairs = [pair for one in ([race] if race else lists) for pair in _read_race(one, lists[one])]
        keys = sorted({key for pair in pairs for key in pair[:2]})
        found = Path(images) if images is not None else next((
            folder for folder in (path / 'data', path) if any((folder / one).is_dir() for one in lists)), None)
        root = found or path
        files = [f'{one}/{find_image(root / one, key)}' for one, key in keys]
        super().__init__(name or '_'.join(['rfw', *([race.lower()] if race else [])]), root, keys, files, pairs,
                         identities=[f'{one}/{key.person}' for one, key in keys], groups=[one for one, _ in keys])
        if not lists_only:
            self.require(found is not None)

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.is_dir() and any(path.glob('txts/*/*_pairs.txt'))


def _read_race(race: str, path: Path) -> list[Pair]:
    """The pairs of a race, whose images are ``(race, ImageKey)``."""
    count = len(read_lines(path))
    if count % (2 * _FOLDS):
        raise DataFormatError(path, value=f'{count} pairs', hint=f'expected {_FOLDS} folds of as many matched as mismatched pairs')
    return [pair._replace(first=(race, pair.first), second=(race, pair.second)) for pair in read_pairs(path, count // (2 * _FOLDS))]

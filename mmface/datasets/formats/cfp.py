"""Celebrities in Frontal-Profile in the Wild.

Sengupta, Chen, Castillo, Patel, Chellappa and Jacobs, Frontal to Profile Face Verification in the Wild, WACV 2016, http://www.cfpw.io/.
"""
from collections.abc import Mapping
from pathlib import Path

from .cfp_lists import CFPImage, looks_like_cfp, read_images, read_split, refuse_alone
from .common.pair_lists import Pair, PairList, warn_of_oddities
from .errors import DataFormatError
from .table import EVALS

_LIST = 'Pair_list_{}.txt'


@EVALS.register('cfp')
class CFP(PairList):
    """CFP as it is released: ``Data/Images/<person>/<frontal|profile>/<n>.jpg`` and ``Protocol/``.

    ``set.paths`` are the images of ``Pair_list_F.txt`` and, for FP, then those of ``Pair_list_P.txt``, in their order. The folds are the
    directories of ``Split/FF`` or ``Split/FP``, in each the pairs of ``same.txt``, then those of ``diff.txt``. A pair of FP is a frontal,
    then a profile image.

    Args:
        path: the folder that holds ``Protocol``.
        images: the folder of the people, for aligned crops; by default ``Data/Images``.
        protocol: ``'FP'``, frontal with profile, or ``'FF'``, frontal with frontal.
        name: what results are called after; by default ``'cfp_fp'`` or ``'cfp_ff'``.
        lists_only: does not look whether the images are there.

    Raises:
        ValueError: for another protocol.
        DataFormatError: for a broken list, naming file and line; for missing images, with their number and the first few.
    """

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 protocol: str = 'FP',
                 name: str | None = None,
                 lists_only: bool = False) -> None:
        if protocol not in ('FF', 'FP'):
            raise ValueError(f'CFP has the protocols FF and FP, not {protocol!r}')
        if path.is_file():
            raise refuse_alone(path)
        lists = {pose: read_images(path / 'Protocol' / _LIST.format(pose)) for pose in sorted(set(protocol))}
        file = {CFPImage(pose, number): name for pose, files in lists.items() for number, name in enumerate(files, 1)}
        pairs = _read_splits(path / 'Protocol' / 'Split' / protocol, protocol, {pose: len(files) for pose, files in lists.items()})
        warn_of_oddities(path / 'Protocol' / 'Split' / protocol, pairs, lambda image: _person(file[image]))
        root = Path(images) if images is not None else path / 'Data' / 'Images'
        super().__init__(name or f'cfp_{protocol.lower()}', root, list(file), list(file.values()), pairs, list(map(_person, file.values())))
        if not lists_only:
            self.require(images is not None or root.is_dir())

    @staticmethod
    def sniff(path: Path) -> bool:
        return (path / 'Protocol' / _LIST.format('F')).is_file() if path.is_dir() else looks_like_cfp(path)


def _read_splits(folder: Path, protocol: str, sizes: Mapping[str, int]) -> list[Pair]:
    """The pairs of all splits, in the order of their numbers."""
    splits = sorted((split for split in folder.glob('*') if split.name.isdigit()), key=lambda split: int(split.name))
    if not splits:
        raise DataFormatError(folder, value='no splits', hint='expected directories 01 to 10 with same.txt and diff.txt')
    pairs = []
    for fold, split in enumerate(splits):
        for same, name in ((True, 'same.txt'), (False, 'diff.txt')):
            if not (split / name).is_file():
                raise DataFormatError(split / name, value='no such file', hint='every split needs same.txt and diff.txt')
            pairs += [Pair(first, second, same, fold, f'{split.name}/{name} line {line}')
                      for first, second, line in read_split(split / name, protocol, sizes)]
    return pairs


def _person(file: str) -> str:
    return file.partition('/')[0]

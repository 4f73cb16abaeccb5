"""LFW's View 1: two lists of its development people, to choose a model by.

Huang, Ramesh, Berg and Learned-Miller, Labeled Faces in the Wild, 2007, http://vis-www.cs.umass.edu/lfw/.
"""
from pathlib import Path

from .common.pair_lists import PairList, find_folder
from .lfw import find_image
from .lfw_pairs import read_pairs
from .table import EVALS

_LISTS = ('pairsDevTrain.txt', 'pairsDevTest.txt')


@EVALS.register('lfw_view1')
class LFWView1(PairList):
    """``pairsDevTrain.txt`` as fold 0 and ``pairsDevTest.txt`` as fold 1, beside the people's folders; chosen by name, never by looking.

    Args:
        path: the folder of the two lists.
        images: the folder of the images; by default as for LFW.
        name: what results are called after.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for a broken list, naming the line; for missing images, with their number and the first few.
    """

    def __init__(self, path: Path, images: str | Path | None = None, name: str = 'lfw_view1', lists_only: bool = False) -> None:
        pairs = [pair._replace(fold=fold) for fold, file in enumerate(_LISTS) for pair in read_pairs(path / file)]
        keys = sorted({key for pair in pairs for key in pair[:2]})
        found = Path(images) if images is not None else find_folder(path, {key.person for key in keys})
        root = found or path
        super().__init__(name, root, keys, [find_image(root, key) for key in keys], pairs, [key.person for key in keys])
        if not lists_only:
            self.require(found is not None)

    @staticmethod
    def sniff(_: Path) -> bool:
        return False

"""Cross-Age LFW.

Zheng, Deng and Hu, Cross-Age LFW, 2017, http://www.whdeng.cn/CALFW/.
"""
from pathlib import Path

import numpy as np

from .common.file_pairs import FilePairs, has_large_tokens, looks_like_file_pairs, read_file_pairs
from .common.folds import contiguous_folds
from .errors import DataFormatError
from .table import EVALS

_LIST = 'pairs_CALFW.txt'


@EVALS.register('calfw')
class CALFW(FilePairs):
    """``pairs_CALFW.txt`` and its images. The token of a matched pair is its fold, from 1; that of a mismatched pair is 0.

    The list does not say the folds of mismatched pairs: they are contiguous blocks, 300 a fold, as in the packs that all compare with.

    Args:
        path: the list, or a folder with ``pairs_CALFW.txt``.
        images: the folder of the images; by default ``aligned images`` beside the list, or where the files are found.
        name: what results are called after.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for a broken list, naming the line; for missing images, with their number and the first few.
    """

    def __init__(self, path: Path, images: str | Path | None = None, name: str = 'calfw', lists_only: bool = False) -> None:
        pair_list = path / _LIST if path.is_dir() else path
        pairs = read_file_pairs(pair_list)
        tokens = np.array([pair.token for pair in pairs])
        folds = int(tokens.max())
        absent = sorted(set(range(1, folds + 1)) - set(tokens.tolist()))
        if absent or not folds:
            raise DataFormatError(pair_list, value=f'no matched pair of fold {", ".join(map(str, absent[:5])) or 1}',
                                  hint='expected the fold of a matched pair as its token, from 1')
        fold = tokens - 1
        fold[tokens == 0] = contiguous_folds(int((tokens == 0).sum()), folds)
        super().__init__(name, pair_list, pairs, fold, images, lists_only)

    @staticmethod
    def sniff(path: Path) -> bool:
        if path.is_dir():
            return (path / _LIST).is_file()
        name = path.name.lower()
        return looks_like_file_pairs(path) and ('calfw' in name or ('cplfw' not in name and has_large_tokens(path)))

"""Cross-Pose LFW.

Zheng and Deng, Cross-Pose LFW, 2018, http://www.whdeng.cn/CPLFW/.
"""
from pathlib import Path

import numpy as np

from .common.file_pairs import FilePairs, has_large_tokens, looks_like_file_pairs, read_file_pairs
from .common.folds import contiguous_folds
from .errors import DataFormatError
from .table import EVALS

_LIST = 'pairs_CPLFW.txt'


@EVALS.register('cplfw')
class CPLFW(FilePairs):
    """``pairs_CPLFW.txt`` and its images. The token of a pair is 1 for matched and 0 for mismatched.

    The list says no folds: those of the matched and of the mismatched pairs are ten contiguous blocks each, 300 + 300 a fold, as in the
    packs that all compare with.

    Args:
        path: the list, or a folder with ``pairs_CPLFW.txt``.
        images: the folder of the images; by default ``aligned images`` beside the list, or where the files are found.
        name: what results are called after.
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: for a broken list, naming the line; for missing images, with their number and the first few.
    """

    def __init__(self, path: Path, images: str | Path | None = None, name: str = 'cplfw', lists_only: bool = False) -> None:
        pair_list = path / _LIST if path.is_dir() else path
        pairs = read_file_pairs(pair_list)
        fold = np.empty(len(pairs), np.int64)
        tokens = np.array([pair.token for pair in pairs])
        if tokens.max() > 1:
            pair = pairs[int((tokens > 1).argmax())]
            raise DataFormatError(pair_list, f'line {pair.line}', f'token {pair.token}',
                                  'expected 1 or 0; for a list of CALFW say format="calfw"')
        for token in (0, 1):
            fold[tokens == token] = contiguous_folds(int((tokens == token).sum()))
        super().__init__(name, pair_list, pairs, fold, images, lists_only)

    @staticmethod
    def sniff(path: Path) -> bool:
        if path.is_dir():
            return (path / _LIST).is_file()
        name = path.name.lower()
        return looks_like_file_pairs(path) and ('cplfw' in name or ('calfw' not in name and not has_large_tokens(path)))

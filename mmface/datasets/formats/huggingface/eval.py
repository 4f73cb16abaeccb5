"""Evaluation sets in the files of Hugging Face's ``datasets``, as CVLface publishes them.

Kim and others, CVLface, https://github.com/mk-minchul/CVLface.
"""
from pathlib import Path

import numpy as np

from mmface.structures import PairSet, SearchSet, TemplateSet

from ..common.folds import contiguous_folds
from ..errors import DataFormatError
from ..table import EVALS
from .metadata import set_of_metadata
from .source import METADATA, is_evaluation_set, is_table, open_table


@EVALS.register('huggingface')
class HuggingFaceEval:
    """A ``save_to_disk`` folder (Arrow) or Parquet files with the columns ``image`` and ``index``, and what says how to compare.

    With a column ``is_same``, which stands at both images of a pair, images 2i and 2i + 1 are pair i; as the sets name no folds, they are
    contiguous tenths, by the rule of :func:`contiguous_folds`. Else ``metadata.pt`` beside the files says it: templates and pairs (IJB), or
    probes, gallery and distractors (TinyFace). Images come in the order of ``index``.

    Args:
        path: the folder, or one file.
        name: what results are called after; by default the name of the folder or file.

    Raises:
        DataFormatError: naming file and row, column or key.
        ImportError: without pyarrow, naming the extra.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path, self.table = path, open_table(path)
        self._row = self._order()
        name = name or path.stem
        self.set = self._pair_set(name) if 'is_same' in self.table.schema.names else self._set_of_metadata(name)

    @staticmethod
    def sniff(path: Path) -> bool:
        return is_table(path) and is_evaluation_set(path)

    def __len__(self) -> int:
        return len(self.table)

    def read(self, index: int) -> memoryview:
        return self.table.read(int(self._row[index]))

    def where(self, index: int) -> str:
        return self.table.where(int(self._row[index]))

    def _order(self) -> np.ndarray:
        """The row of every image."""
        index = self.table.numbers('index')
        row = np.argsort(index, kind='stable')
        wrong = np.flatnonzero(index[row] != np.arange(len(row)))
        if wrong.size:
            at = int(wrong[0])
            raise DataFormatError(self.path, self.table.where(int(row[at])), f'index {index[row[at]]}', f'expected every number from 0 to '
                                  f'{len(row) - 1} once')
        return row

    def _paths(self) -> list[str]:
        """What names the images: the column ``path``, else their places."""
        if 'path' not in self.table.schema.names:
            return [self.where(at) for at in range(len(self))]
        paths = self.table.column('path').to_pylist()
        return [paths[row] if isinstance(paths[row], str) else self.table.where(int(row)) for row in self._row]

    def _pair_set(self, name: str) -> PairSet:
        same = self.table.numbers('is_same')[self._row]
        if len(same) % 2:
            raise DataFormatError(self.path, value=f'{len(same)} images', hint='expected two a pair')
        wrong = np.flatnonzero(same[0::2] != same[1::2])
        if wrong.size:
            at = 2 * int(wrong[0])
            raise DataFormatError(self.path, f'{self.where(at)} and {self.where(at + 1)}', f'is_same {same[at]} and {same[at + 1]}',
                                  'both images of a pair must say the same')
        return PairSet(name, self._paths(), np.arange(len(same)).reshape(-1, 2), same[0::2], contiguous_folds(len(same) // 2))

    def _set_of_metadata(self, name: str) -> TemplateSet | SearchSet:
        metadata = self.path / METADATA
        if not metadata.is_file():
            raise DataFormatError(self.path, value='no column is_same', hint=f'and no {METADATA} beside the files that says how to compare;'
                                  f' found: {", ".join(self.table.schema.names)}')
        return set_of_metadata(metadata, name, self._paths())

"""Training sets in MXNet's indexed RecordIO, as InsightFace and others pack them, without mxnet.

All layouts in circulation are told apart by the records themselves: one with a payload is an image, one without and with two or more labels
is a header or an identity range. Header and ranges are float32, wrong above 2**24, and several may stand for one class, so no image is
looked for through them.
"""
import mmap
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ..common.class_names import read_class_names
from ..common.class_ranks import class_ranks
from ..common.class_sizes import log_class_sizes
from ..errors import DataFormatError, DataFormatWarning, is_collecting, report
from ..table import RECORDS
from .cache import identify, load_table, store_table
from .frames import read_record
from .survey import JOINED
from .table import ImageTable, read_table

_CAN_ADVISE = hasattr(mmap, 'MADV_WILLNEED')


@RECORDS.register('recordio')
class RecordIO:
    """``NAME.rec`` with ``NAME.idx`` and ``property`` beside it; both may be missing.

    The file is memory-mapped. Its structure is checked at once: index, bounds of the frames, headers, labels. What was found is kept in
    the user's cache folder and shared by all processes, see :mod:`.cache`; nothing is written beside the data. Images come in the
    order of their keys.

    Attributes:
        path: the ``.rec``.
        labels: int64 ``[N]``, in ``[0, num_classes)``.
        num_classes: the first number of ``property``, else the largest label + 1; with ``labels='rank'`` the number of classes that have
            an image.
        classes: name -> label from ``classes.tsv`` beside the ``.rec``, which our converters write; without it None, or with
            ``labels='rank'`` the stored label, as text -> label.

    Args:
        path: the ``.rec``, or a folder that holds exactly one.
        labels: ``'stored'``, or ``'rank'``: the rank of the stored label among those that occur, which closes gaps.

    Raises:
        DataFormatError: naming file, record (by key) or line, and what is wrong with it.
    """

    def __init__(self, path: Path, labels: Literal['stored', 'rank'] = 'stored') -> None:
        if labels not in ('stored', 'rank'):
            raise ValueError(f"labels={labels!r}: expected 'stored' or 'rank'")
        self.path = _only_rec(path) if path.is_dir() else path
        if not self.path.stat().st_size:
            raise DataFormatError(self.path, value='empty', hint='copy it again')
        self._map()
        self._table, self._kept = self._find_images()
        self.labels = self._table.labels
        self.num_classes = self._count_classes()
        self.classes = read_class_names(self.path.parent, self.num_classes)
        if self._table.header is not None:
            self._compare_header(self._table.header)
        self._refuse_float64_labels()
        log_class_sizes(self.path, self.labels, self.num_classes)
        if labels == 'rank':
            self._close_gaps()

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.suffix == '.rec' if path.is_file() else any(path.glob('*.rec')) or any(path.glob('*.idx'))

    @property
    def keys(self) -> np.ndarray:
        """The keys of the images, int64 ``[N]``, ascending."""
        return self._table.keys

    def __len__(self) -> int:
        return len(self.labels)

    def announce(self, indices: Sequence[int]) -> None:
        """Tells the system which images are read next, in any order: it fetches just their bytes, and those of a whole batch side by side.

        Otherwise it reads far more around each page that is touched (in a cold file, 88 times what was wanted), one image after the other.
        That is right for who goes through the set from front to back.
        """
        if not _CAN_ADVISE:
            return
        which = np.asarray(indices)
        for start, size in zip(self._table.starts[which].tolist(), self._table.sizes[which].tolist(), strict=True):
            if size > 0:
                page = start - start % mmap.PAGESIZE
                self._file.madvise(mmap.MADV_WILLNEED, page, start + size - page)

    def read(self, index: int) -> memoryview:
        """The encoded image ``index``, without a copy where its record is in one part."""
        start, size = int(self._table.starts[index]), int(self._table.sizes[index])
        if size == JOINED:
            return read_record(self.path, self._view, start, int(self.keys[index])).body
        return self._view[start:start + size]

    def where(self, index: int) -> str:
        return f'record {self.keys[index]}'

    def __getstate__(self) -> dict:
        state = {name: value for name, value in vars(self).items() if name not in ('_file', '_view')}
        if self._kept:
            del state['_table']
            if self.labels is self._table.labels:
                del state['labels']
        return state

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._map()
        if '_table' not in state:
            self._table = load_table(identify(self.path), verify=False) or self._find_images()[0]
        self.__dict__.setdefault('labels', self._table.labels)

    def _map(self) -> None:
        with self.path.open('rb') as file:
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._view = memoryview(self._file)

    def _find_images(self) -> tuple[ImageTable, bool]:
        """The table, and whether the cache keeps it."""
        if is_collecting():
            return read_table(self.path, self._view), False
        known = identify(self.path)
        kept = load_table(known)
        if kept is not None:
            return kept, True
        table = read_table(self.path, self._view)
        kept = load_table(known, verify=False) if store_table(known, table) else None
        return (table, False) if kept is None else (kept, True)

    def _count_classes(self) -> int:
        needed, path = int(self.labels.max()) + 1, self.path.with_name('property')
        if not path.exists():
            return needed
        with path.open('rb') as file:
            line = file.read(4096).decode('utf-8', 'replace').partition('\n')[0].strip()
        numbers = re.fullmatch(r'([0-9]{1,9})\s*,\s*[0-9]+\s*,\s*[0-9]+', line)
        if not numbers:
            report(DataFormatError(path, 'line 1', repr(line[:80]), 'expected "classes,height,width"; delete it to have classes counted'))
            return needed
        classes = int(numbers[1])
        if classes < needed:
            at = int(self.labels.argmax())
            plural = '' if classes == 1 else 'es'
            report(DataFormatError(self.path, self.where(at),
                                   f'label {needed - 1}: property says {classes} class{plural}, labels reach {needed - 1}',
                                   'correct the property file, or delete it to have classes counted'))
        return max(classes, needed)

    def _close_gaps(self) -> None:
        names = {str(label): name for name, label in (self.classes or {}).items()}
        self.labels, ranks = class_ranks(self.labels)
        self.classes, self.num_classes = {names.get(label, label): rank for label, rank in ranks.items()}, len(ranks)

    def _compare_header(self, end: float) -> None:
        first, last = int(self.keys[0]), int(self.keys[-1])
        if end != float(np.float32(last + 1)):
            warnings.warn(
                DataFormatWarning(self.path, 'record 0', f'header record says images 1..{end - 1:.0f}, index has {first}..{last}',
                                  'the index is used'),
                stacklevel=2)

    def _refuse_float64_labels(self) -> None:
        start = bytes(self.read(0)[:8])
        if start[4:].startswith((b'\xff\xd8\xff', b'\x89PNG')):
            raise DataFormatError(self.path, self.where(0), 'image 4 bytes late', 'the labels are float64, of a private fork of MXNet: '
                                  'convert the set with the program that wrote it')


def _only_rec(folder: Path) -> Path:
    found = sorted(folder.glob('*.rec'))
    if len(found) == 1:
        return found[0]
    if found:
        raise DataFormatError(folder, value=f'{len(found)} .rec files', hint=f'name one: {", ".join(file.name for file in found[:5])}')
    idx = next(folder.glob('*.idx'), folder / 'train.idx')
    raise DataFormatError(idx.with_suffix('.rec'), value='no such file', hint=f'expected the records that {idx.name} is the index of')

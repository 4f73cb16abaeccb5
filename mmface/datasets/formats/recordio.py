"""Training sets in MXNet's indexed RecordIO, as InsightFace and others pack them, without mxnet.

All layouts in circulation are told apart by the records themselves: one with a payload is an image, one without and with two or more labels
is a header or an identity range. Header and ranges are float32, wrong above 2**24, and several may stand for one class, so no image is
looked for through them.
"""
import mmap
import re
import warnings
from pathlib import Path

import numpy as np
from mmengine.logging import print_log

from .errors import DataFormatError, DataFormatWarning
from .recordio_frames import read_record, scan
from .recordio_index import line_of, read_index
from .recordio_survey import JOINED, Survey, survey
from .table import RECORDS


@RECORDS.register('recordio')
class RecordIO:
    """``NAME.rec`` with ``NAME.idx`` and ``property`` beside it; both may be missing.

    The file is memory-mapped. Its structure is checked at once: index, bounds of the frames, headers, labels. Images come in the order of
    their keys.

    Attributes:
        path: the ``.rec``.
        keys: int64 ``[N]``, the keys of the images, ascending.
        labels: int64 ``[N]``, in ``[0, num_classes)``.
        num_classes: the first number of ``property``, else the largest label + 1.
        classes: None, classes have no names here.

    Args:
        path: the ``.rec``, or a folder that holds exactly one.

    Raises:
        DataFormatError: naming file, record (by key) or line, and what is wrong with it.
    """
    classes = None

    def __init__(self, path: Path) -> None:
        self.path = self._only_rec(path) if path.is_dir() else path
        if not self.path.stat().st_size:
            raise DataFormatError(self.path, value='empty', hint='copy it again')
        self._view = self._map()
        keys, found = self._check_records()
        image = (found.sizes != 0) | (found.flags < 2)
        if not image.any():
            raise DataFormatError(self.path, value=f'no image record among {len(keys)}', hint='a training set needs images')
        order = np.flatnonzero(image)
        order = order[np.argsort(keys[order], kind='stable')]
        self.keys, self._starts, self._sizes = keys[order], found.starts[order], found.sizes[order]
        self.labels = self._as_classes(found.labels[order])
        self.num_classes = self._count_classes()
        for header in found.labels[(keys == 0) & ~image]:
            self._compare_header(float(header))
        self._refuse_float64_labels()

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.suffix == '.rec' if path.is_file() else any(path.glob('*.rec'))

    def __len__(self) -> int:
        return len(self.keys)

    def read(self, index: int) -> memoryview:
        """The encoded image ``index``, without a copy where its record is in one part."""
        start, size = int(self._starts[index]), int(self._sizes[index])
        if size == JOINED:
            return read_record(self.path, self._view, start, int(self.keys[index])).body
        return self._view[start:start + size]

    def where(self, index: int) -> str:
        return f'record {self.keys[index]}'

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != '_view'}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._view = self._map()

    @staticmethod
    def _only_rec(folder: Path) -> Path:
        found = sorted(folder.glob('*.rec'))
        if len(found) != 1:
            raise DataFormatError(folder, value=f'{len(found)} .rec files', hint=f'name one: {", ".join(file.name for file in found[:5])}')
        return found[0]

    def _map(self) -> memoryview:
        with self.path.open('rb') as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def _check_records(self) -> tuple[np.ndarray, Survey]:
        """The keys of all records in the order of the file, and what is known of them."""
        idx = self.path.with_suffix('.idx')
        if not idx.exists():
            keys, offsets = scan(self.path, self._view)
            print_log(f'{self.path}: no {idx.name} beside it, found {len(keys)} records by scanning', logger='current')
            return keys, survey(self.path, self._view, keys, offsets)
        keys, offsets = read_index(idx)
        order = np.argsort(offsets, kind='stable')
        inside = order[offsets[order] < len(self._view)]
        found = survey(self.path, self._view, keys[inside], offsets[inside])
        if len(inside) < len(order):
            first = order[len(inside)]
            end = f'{self.path.name} of {len(self._view)} bytes'
            raise DataFormatError(idx, f'line {line_of(idx, first)}', f'offset {offsets[first]} beyond {end}',
                                  'one of them is cut short or of another set: copy both again, or delete the .idx to have it rebuilt')
        return keys[inside], found

    def _as_classes(self, labels: np.ndarray) -> np.ndarray:
        with np.errstate(invalid='ignore'):
            bad = np.flatnonzero(~(np.isfinite(labels) & (labels >= 0) & (labels == np.floor(labels))))
        if bad.size:
            at = int(bad[0])
            raise DataFormatError(self.path, self.where(at), f'label {labels[at]:g} is no class number',
                                  f'expected whole numbers from 0; {bad.size} of {len(labels)} images are concerned')
        return labels.astype(np.int64)

    def _count_classes(self) -> int:
        needed, path = int(self.labels.max()) + 1, self.path.with_name('property')
        if not path.exists():
            return needed
        lines = path.read_text(errors='replace').splitlines()[:1] or ['']
        numbers = re.fullmatch(r'\s*([0-9]{1,9})\s*,\s*[0-9]+\s*,\s*[0-9]+\s*', lines[0])
        if not numbers:
            raise DataFormatError(path, 'line 1', repr(lines[0][:80]), 'expected "classes,height,width"; delete it to have classes counted')
        classes = int(numbers[1])
        if classes < needed:
            at = int(self.labels.argmax())
            plural = '' if classes == 1 else 'es'
            raise DataFormatError(self.path, self.where(at), f'property says {classes} class{plural}, labels reach {needed - 1}',
                                  'correct the property file, or delete it to have classes counted')
        return classes

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

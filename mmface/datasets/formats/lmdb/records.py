"""Training sets in LMDB: what an indexed RecordIO holds, in one file with a tree."""
import json
import os
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmface.utils.progress import Progress

from ..common.class_numbers import class_numbers
from ..common.class_sizes import log_class_sizes
from ..common.column_cache import cached_columns
from ..errors import DataFormatError, DataFormatWarning, read_each
from ..recordio.frames import IR_HEADER
from ..table import RECORDS
from .file import data_file, open_lmdb

if TYPE_CHECKING:
    import lmdb

META = b'__meta__'
_MAGIC = b'\xde\xc0\xef\xbe'
_IMAGES = (b'\xff\xd8\xff', b'\x89PNG')
_EXPECTED = 'expected an IRHeader of 24 bytes, its labels and the image, as in a .rec'


@RECORDS.register('lmdb')
class LMDB:
    """An LMDB whose keys are ordinals of nine digits and whose values are those of a ``.rec``: IRHeader, labels, encoded image.

    The key ``__meta__`` holds JSON: ``num_images``, ``num_classes`` and, where classes have names, ``classes`` (name -> label); what it
    says is checked. Every header is looked at when the set is opened. Nothing is unpickled: a pickled value is refused.

    Attributes:
        path: the folder of ``data.mdb``, or the file.
        labels: int64 ``[N]``, in ``[0, num_classes)``.
        num_classes: that of ``__meta__``, else the largest label + 1.
        classes: that of ``__meta__``, else None.

    Raises:
        DataFormatError: naming file and key.
        ImportError: without lmdb, naming the extra.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._process, self._environment = os.getpid(), open_lmdb(path)
        import lmdb
        try:
            meta = self._read_meta()
            columns = cached_columns('lmdb', [data_file(path)], self._survey)
        except lmdb.Error as error:
            raise DataFormatError(path, value=str(error), hint='the file is damaged: copy it again') from None
        self._first, labels = int(columns['first'][0]), columns['labels']
        self.labels = class_numbers(path, self.where, labels)
        self.classes: dict[str, int] | None = meta.get('classes')
        self.num_classes = int(meta.get('num_classes', self.labels.max() + 1))
        if meta.get('num_images', len(labels)) != len(labels):
            raise DataFormatError(path, 'key __meta__', f'num_images {meta["num_images"]}', f'there are {len(labels)}')
        if self.num_classes <= self.labels.max():
            at = int(self.labels.argmax())
            raise DataFormatError(path, self.where(at), f'label {self.labels[at]}', f'__meta__ says num_classes {self.num_classes}')
        log_class_sizes(path, self.labels, self.num_classes)

    @staticmethod
    def sniff(path: Path) -> bool:
        file = data_file(path)
        if not file.is_file():
            return False
        with file.open('rb') as stream:
            return stream.read(20)[16:] == _MAGIC

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> memoryview:
        if self._process != os.getpid():
            self._process, self._environment = os.getpid(), open_lmdb(self.path)
        with self._environment.begin() as transaction:
            value = transaction.get(b'%09d' % (self._first + index), b'')
        flag = int.from_bytes(value[:4], 'little')
        return memoryview(value)[IR_HEADER.size + 4 * flag:]

    def where(self, index: int) -> str:
        return f'key {self._first + index:09d}'

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), '_process': None, '_environment': None}

    def _survey(self) -> dict[str, np.ndarray]:
        """The first ordinal, and the labels as they stand."""
        with self._environment.begin(buffers=True) as transaction:
            first = int(transaction.get(b'000000000') is None)
            with Progress(f'labels of {self.path.name}', self._environment.stat()['entries']) as progress:
                labels = read_each(lambda record: self._label(*record), self._records(transaction, first, progress))
        if not labels:
            raise DataFormatError(self.path, value='no record', hint='expected the keys 000000000 ...')
        return dict(first=np.array([first]), labels=np.array(labels))

    def _records(self, transaction: 'lmdb.Transaction', first: int, progress: Progress) -> Iterator[tuple[str, memoryview]]:
        """Keys and values of the records, as long as the keys count up."""
        keys = (b'%09d' % ordinal for ordinal in count(first))
        for key, value in transaction.cursor():
            if bytes(key) == META:
                continue
            expected = next(keys)
            if bytes(key) != expected:
                raise DataFormatError(self.path, f'key {bytes(key)[:40].decode("ascii", "backslashreplace")}',
                                      f'where {expected.decode()} was expected', 'keys are ordinals of nine digits without gap')
            progress.advance()
            yield expected.decode(), value

    def _label(self, key: str, value: memoryview) -> float:
        if len(value) >= 2 and value[0] == 0x80 and 2 <= value[1] <= 5:
            raise DataFormatError(self.path, f'key {key}', 'a pickled value', f'nothing is unpickled: {_EXPECTED}')
        if bytes(value[:4]).startswith(_IMAGES):
            raise DataFormatError(self.path, f'key {key}', 'an image without header', _EXPECTED)
        if len(value) < IR_HEADER.size:
            raise DataFormatError(self.path, f'key {key}', f'{len(value)} bytes', _EXPECTED)
        flag, label, _, _ = IR_HEADER.unpack_from(value)
        if 4 * flag > len(value) - IR_HEADER.size:
            raise DataFormatError(self.path, f'key {key}', f'claims {flag} labels, {len(value) - IR_HEADER.size} bytes left', _EXPECTED)
        return float(np.frombuffer(value, '<f4', 1, IR_HEADER.size)[0]) if flag else label

    def _read_meta(self) -> dict[str, Any]:
        with self._environment.begin() as transaction:
            text = transaction.get(META)
        if text is None:
            warnings.warn(DataFormatWarning(self.path, value='no key __meta__', hint='images and classes are counted'), stacklevel=4)
            return {}
        try:
            meta = json.loads(text)
        except ValueError as error:
            raise DataFormatError(self.path, 'key __meta__', f'JSON error: {error}', 'expected an object') from None
        whole = isinstance(meta, dict) and all(type(meta.get(key, 0)) is int for key in ('num_images', 'num_classes'))
        classes = (meta.get('classes') or {}) if whole else None
        if not isinstance(classes, dict) or not all(type(label) is int for label in classes.values()):
            raise DataFormatError(self.path, 'key __meta__', repr(meta)[:80],
                                  'expected an object with whole num_images and num_classes, and classes, an object name -> label')
        return meta

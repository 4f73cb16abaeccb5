"""Which images a ``.rec`` has: from its index and headers, checked at once."""
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mmengine.logging import print_log

from ..common.class_numbers import class_numbers
from ..common.placeholders import refuse_placeholder
from ..errors import DataFormatError, report
from .frames import scan
from .index import check_lines, lines_of, read_index
from .survey import survey

_EXACT = 1 << 24


class ImageTable(NamedTuple):
    """The N images of a ``.rec`` in the order of their keys.

    Attributes:
        keys: int64 ``[N]``, ascending.
        starts: int64 ``[N]``, see :class:`Survey`.
        labels: int64 ``[N]``, whole numbers from 0, as stored.
        sizes: int32 ``[N]``, see :class:`Survey`.
        header: the first number of record 0, where that is a header.
    """
    keys: np.ndarray
    starts: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray
    header: float | None


def read_table(path: Path, view: memoryview) -> ImageTable:
    """Reads the index, or scans where there is none, and checks every frame, header and label.

    Beside the result (28 bytes an image) it needs little more memory than the result again.

    Raises:
        DataFormatError: naming file, record (by key) or line, and what is wrong with it.
    """
    refuse_placeholder(path, bytes(view[:64]))
    idx = path.with_suffix('.idx')
    columns = _indexed(path, idx, view) if idx.exists() else _scanned(path, idx, view)
    if len(view) % 4:
        report(DataFormatError(path, value=f'{len(view)} bytes', hint='a whole file has a multiple of 4: copy it again'))
    return _images(path, columns)


def _scanned(path: Path, idx: Path, view: memoryview) -> dict[str, np.ndarray]:
    keys, offsets = scan(path, view)
    print_log(f'{path}: no {idx.name} beside it, found {len(keys)} records by scanning', logger='current')
    return dict(keys=keys, **survey(path, view, keys, offsets)._asdict())


def _indexed(path: Path, idx: Path, view: memoryview) -> dict[str, np.ndarray]:
    """The keys of all records in the order of the file, and what is known of them."""
    keys, offsets = read_index(idx)
    if (offsets[1:] < offsets[:-1]).any():
        order = np.argsort(offsets, kind='stable')
        keys = keys[order]
        offsets = offsets[order]
    inside = int(np.searchsorted(offsets, len(view)))
    beyond = int(offsets[inside]) if inside < len(offsets) else None
    try:
        found = survey(path, view, keys[:inside], offsets[:inside])
    except DataFormatError:
        check_lines(idx)
        raise
    if beyond is not None:
        report(DataFormatError(idx, f'line {next(lines_of(idx, 1, beyond))}', f'offset {beyond} beyond {path.name} of {len(view)} bytes',
                               'one of them is cut short or of another set: copy both again, or delete the .idx to have it rebuilt'))
    return dict(keys=keys[:inside], **found._asdict())


def _images(path: Path, columns: dict[str, np.ndarray]) -> ImageTable:
    """The records that are images, by key. ``columns`` are changed one by one: to have all twice is too much for the largest sets."""
    keys, image = columns['keys'], columns.pop('image')
    header = columns['labels'][(keys == 0) & ~image]
    if not image.any():
        raise DataFormatError(path, value=f'no image record among {len(keys)}', hint='a training set needs images')
    del keys
    if not image.all():
        _take(columns, image)
    if (columns['keys'][1:] < columns['keys'][:-1]).any():
        _take(columns, np.argsort(columns['keys'], kind='stable'))
    _refuse_inexact(path, columns)
    columns['labels'] = class_numbers(path, lambda at: f'record {columns["keys"][at]}', columns['labels'])
    return ImageTable(**columns, header=float(header[0]) if header.size else None)


def _refuse_inexact(path: Path, columns: dict[str, np.ndarray]) -> None:
    with np.errstate(invalid='ignore'):
        beyond = np.flatnonzero((columns['labels'] > _EXACT) & np.isfinite(columns['labels']))
    if beyond.size:
        at = int(beyond[0])
        raise DataFormatError(path, f'record {columns["keys"][at]}', f'label {columns["labels"][at]:.0f}',
                              f'float32, which labels are stored as, holds every whole number only up to {_EXACT}')


def _take(columns: dict[str, np.ndarray], which: np.ndarray) -> None:
    for name in columns:
        columns[name] = columns[name][which]

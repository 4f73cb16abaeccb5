"""Writes any training set as LMDB, see :class:`~mmface.datasets.formats.lmdb.records.LMDB`."""
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mmface.utils.dependency import require_extra

from ..reader import Records
from ..recordio.stream import pack_record
from ..writing.conversion import Conversion
from ..writing.partial_folder import PartialFolder, describe_records
from .records import META

if TYPE_CHECKING:
    import lmdb

_ROOM = 1 << 40  # bytes of address space; the file grows as it is filled


def write_lmdb(records: Records, path: Path, max_skipped: float = 0., workers: int | None = None, interval: int = 8192) -> int:
    """Writes ``data.mdb``: images and labels as they are, in their order, and ``__meta__``.

    Every image is decoded once to make sure that it can be. An interrupted run is resumed by calling this again.

    Args:
        records: the set.
        path: the folder to make; must not exist.
        max_skipped: the share of images that may be broken; ``skipped.tsv`` lists them.
        workers: threads; by default as many as there are processors.
        interval: images after which what is written becomes safe; so many are held in memory.

    Returns:
        How many images were skipped.

    Raises:
        FileExistsError: where ``path`` is taken.
        DataFormatError: for a broken image, or one too many.
        ImportError: without lmdb, naming the extra.
    """
    require_extra('lmdb', 'writing LMDB')
    import lmdb
    with PartialFolder(path, dict(describe_records(records), format='lmdb')) as folder:
        conversion = Conversion(records, np.arange(len(records)), folder, max_skipped, workers, interval)
        environment = lmdb.open(str(folder), map_size=_ROOM, lock=False, readahead=False)
        try:
            _fill(conversion, environment)
        finally:
            environment.close()
        conversion.finish()
    return len(conversion.skipped)


def _fill(conversion: Conversion, environment: 'lmdb.Environment') -> None:
    records, written = conversion.records, conversion.state['kept'] or 0
    waiting: list[tuple[int, bytes]] = []

    def save() -> int:
        nonlocal written
        with environment.begin(write=True) as transaction:
            for label, image in waiting:
                transaction.put(b'%09d' % written, pack_record(label, written, image))
                written += 1
        environment.sync(True)
        waiting.clear()
        return written

    conversion.run(lambda at, data: (int(records.labels[at]), data), waiting.append, save)
    meta = dict(num_images=written, num_classes=records.num_classes, classes=records.classes)
    with environment.begin(write=True) as transaction:
        transaction.put(META, json.dumps(meta).encode())
    environment.sync(True)

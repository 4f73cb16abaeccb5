"""Writes any training set as InsightFace's RecordIO, see :class:`~mmface.datasets.formats.recordio.reader.RecordIO`."""
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..common.class_names import write_class_names
from ..errors import DataFormatError
from ..reader import Records
from ..writing.conversion import Conversion, check_image
from ..writing.partial_folder import PartialFolder, describe_records, reopen
from .stream import RecordIOStream, pack_record


def write_rec(records: Records, path: Path, max_skipped: float = 0., workers: int | None = None, interval: int = 8192) -> int:
    """Writes ``train.rec``, ``train.idx`` and ``property``: images from key 1, class by class, then a record an identity.

    Images and labels stay as they are; a class without image has no identity record. Where classes have names, ``classes.tsv`` has them:
    label TAB name. Every image is decoded once to make sure that it can be, and all must have one size. An interrupted run is resumed by
    calling this again.

    Args:
        records: the set.
        path: the folder to make; must not exist.
        max_skipped: the share of images that may be broken; ``skipped.tsv`` lists them.
        workers: threads; by default as many as there are processors.
        interval: images after which what is written becomes safe.

    Returns:
        How many images were skipped.

    Raises:
        FileExistsError: where ``path`` is taken.
        DataFormatError: for a broken image, or one too many.
    """
    order = np.argsort(records.labels, kind='stable')
    with PartialFolder(path, dict(describe_records(records), format='rec')) as folder:
        conversion = Conversion(records, order, folder, max_skipped, workers, interval)
        size = _first_size(records, order)
        key, rec_bytes, idx_bytes = conversion.state['kept'] or (1, 0, 0)
        stream = RecordIOStream(reopen(folder / 'train.rec', rec_bytes), reopen(folder / 'train.idx', idx_bytes))

        def put(image: tuple[int, bytes]) -> None:
            nonlocal key
            stream.write(key, pack_record(image[0], key, image[1]))
            key += 1

        def save() -> tuple[int, int, int]:
            stream.sync()
            return key, stream.rec.tell(), stream.idx.tell()

        try:
            conversion.run(lambda at, data: (int(records.labels[at]), data), put, save, size)
            stream.write_identities(_ranges(records.labels[np.delete(order, conversion.skipped)]), key)
            stream.sync()
        finally:
            stream.close()
        (folder / 'property').write_text(f'{records.num_classes},{size[0]},{size[1]}\n')
        if records.classes is not None:
            write_class_names(folder, records.classes)
        conversion.finish()
    return len(conversion.skipped)


def _first_size(records: Records, order: np.ndarray) -> tuple[int, int]:
    """Height and width of the first image that can be decoded."""
    fault = None
    for at in order.tolist():
        try:
            return check_image(records, at, bytes(records.read(at)), None)
        except DataFormatError as error:
            fault = fault or error
    raise fault or DataFormatError(records.path, value='no image')


def _ranges(labels: np.ndarray) -> list[tuple[int, int]]:
    """First key, and key behind the last, of each class, given the labels of the images with the keys 1, 2, ..."""
    ends = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
    return [(first + 1, end + 1) for first, end in pairwise(ends)]

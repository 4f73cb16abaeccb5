"""Writes any training set as a folder of images, see :class:`~.folder.ImageFolder`."""
import os
from pathlib import Path

import numpy as np

from ..common.class_names import write_class_names
from ..reader import Records
from .conversion import Conversion
from .image_suffix import image_suffix
from .partial_folder import PartialFolder, describe_records


def write_folder(records: Records, path: Path, max_skipped: float = 0., workers: int | None = None, interval: int = 1 << 16) -> int:
    """Writes ``<label>/<number>.<suffix>``: the images as they are stored, each called after its content and its place in the set, from 0.

    Labels and numbers have leading zeros, so that every order of the names is that of the numbers; ``labels='name'`` gives the labels back
    also where they have gaps. Where classes have names, ``classes.tsv`` has them: label TAB name. Every image is decoded once to make
    sure that it can be. An interrupted run is resumed by calling this again.

    Args:
        records: the set.
        path: the folder to make; must not exist.
        max_skipped: the share of images that may be broken; ``skipped.tsv`` lists them.
        workers: threads; by default as many as there are processors.
        interval: images after which the system is asked to bring all that was written to the disk.

    Returns:
        How many images were skipped.

    Raises:
        FileExistsError: where ``path`` is taken.
        DataFormatError: for a broken image, or one too many.
    """
    label_digits, digits = (len(str(number - 1)) for number in (records.num_classes, len(records)))
    with PartialFolder(path, dict(describe_records(records), format='folder')) as folder:
        conversion = Conversion(records, np.arange(len(records)), folder, max_skipped, workers, interval)

        def take(at: int, data: bytes) -> None:
            directory = f'{folder}/{records.labels[at]:0{label_digits}d}'
            os.makedirs(directory, exist_ok=True)
            with open(f'{directory}/{at:0{digits}d}.{image_suffix(data)}', 'wb') as file:
                file.write(data)

        conversion.run(take, lambda _: None, os.sync)
        if records.classes is not None:
            write_class_names(folder, records.classes)
        conversion.finish()
    return len(conversion.skipped)

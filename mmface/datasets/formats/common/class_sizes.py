"""How many images the classes of a set have."""
from pathlib import Path

import numpy as np
from mmengine.logging import print_log

from ..errors import is_collecting

_BLOCK = 1 << 22


def log_class_sizes(path: Path, labels: np.ndarray, num_classes: int) -> None:
    """Logs, where there are such, how many classes have no image, and how many a single one.

    Args:
        path: for the message.
        labels: int64 ``[N]``; those below 0 do not count.
        num_classes: how many classes there are.
    """
    if is_collecting():  # who collects all faults counts the classes himself
        return
    if num_classes > 1 << 24:  # the numbers may stand for anything: no room for all of them
        counts = np.unique(labels[labels >= 0], return_counts=True)[1]
    else:
        counts = np.zeros(num_classes, np.int64)
        for at in range(0, len(labels), _BLOCK):  # in one go bincount would copy labels that are mapped from a file
            block = labels[at:at + _BLOCK]
            counts += np.bincount(block[block >= 0], minlength=num_classes)
    empty, single = num_classes - int((counts > 0).sum()), int((counts == 1).sum())
    parts = [f'{empty} have no image (labels="rank" closes such gaps)'] * (empty > 0) + [f'{single} have a single one'] * (single > 0)
    if parts:
        print_log(f'{path}: of {num_classes} classes {", ".join(parts)}', logger='current')

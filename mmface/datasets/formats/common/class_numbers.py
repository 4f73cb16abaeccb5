"""Labels as they stand on disk become class numbers, or are refused."""
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..errors import DataFormatError, report

_LARGEST = 1 << 53  # beyond it a float has no whole numbers of its own
_LISTED = 1000  # where somebody collects all faults and everything is wrong, their number says the rest


def class_numbers(path: Path, where: Callable[[int], str], labels: np.ndarray) -> np.ndarray:
    """Checks that labels are whole numbers from 0.

    Args:
        path: for messages.
        where: the place of image i, for messages.
        labels: integers or floats ``[N]``, N >= 1.

    Returns:
        int64 ``[N]``; -1 for what was refused, where somebody collects all faults.

    Raises:
        DataFormatError: naming the first image whose label is none, and how many are concerned.
    """
    with np.errstate(invalid='ignore'):
        good = (labels >= 0) & (labels < _LARGEST) & (labels == np.floor(labels))  # no NaN passes a comparison
    if good.all():
        return labels.astype(np.int64)
    bad = np.flatnonzero(~good)
    for at in bad[:_LISTED].tolist():
        report(DataFormatError(path, where(at), f'label {labels[at]:g} is no class number',
                               f'expected whole numbers from 0; {bad.size} of {len(labels)} images are concerned'))
    return np.where(good, labels, -1).astype(np.int64)

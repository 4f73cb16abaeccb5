"""The points of a ROC that can be seen."""
import numpy as np

from mmface.functional.roc import Roc

_MAX_STEPS = 1000  # more cannot be seen


def visible_points(roc: Roc) -> np.ndarray:
    """Rows of ``roc``: of every FAR the one with the highest TAR, thinned to about a thousand, evenly over the logarithm of the FAR."""
    best = np.append(np.flatnonzero(np.diff(roc.false_accepts)), len(roc.far) - 1)
    if len(best) > _MAX_STEPS:
        wanted = np.geomspace(1, roc.impostors, _MAX_STEPS)
        best = best[np.unique(np.append(0, np.searchsorted(roc.false_accepts[best], wanted, side='right') - 1))]
    return best

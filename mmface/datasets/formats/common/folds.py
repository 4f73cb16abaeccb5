"""Folds of pairs whose list names none."""
import numpy as np


def contiguous_folds(count: int, folds: int = 10) -> np.ndarray:
    """int64 ``[count]``: contiguous blocks of equal size. The first ``count % folds`` have one more, as in scikit-learn's ``KFold``."""
    return np.repeat(np.arange(folds), [count // folds + (at < count % folds) for at in range(folds)])

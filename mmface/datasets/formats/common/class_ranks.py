"""Labels with gaps become labels without."""
import numpy as np


def class_ranks(labels: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    """Numbers the classes that occur, in the order of their labels.

    Args:
        labels: whole numbers ``[N]``.

    Returns:
        int64 ``[N]`` in ``[0, C)``, and the mapping old label, as text -> new label, C entries.
    """
    present, ranks = np.unique(labels, return_inverse=True)
    return ranks.astype(np.int64), {str(label): rank for rank, label in enumerate(present.tolist())}

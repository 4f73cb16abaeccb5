"""What quality is worth: the error that is left when the poorest comparisons are turned away."""
import numpy as np


def error_by_rejection(similarity: np.ndarray, quality: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """The error-versus-reject curve of P. Grother and E. Tabassi, "Performance of biometric quality measures", PAMI 2007.

    A genuine comparison of low quality is turned away before it is made; FNMR is that of the others, at a threshold that stays. A measure
    of quality is good where the curve falls like the diagonal from the FNMR at no rejection to zero, and worthless where it stays level.

    Args:
        similarity: [G] scores of genuine comparisons.
        quality: [G], the lower quality of the two images of each; higher is better (the feature norm).
        threshold: accept when similarity >= threshold.

    Returns:
        The share rejected, rising from 0, and the FNMR of the rest; comparisons of equal quality go together, and the best ones stay.

    Raises:
        ValueError: no comparisons, unequal lengths, or a quality that is not finite.
    """
    similarity, quality = np.asarray(similarity, np.float64), np.asarray(quality, np.float64)
    if not len(similarity) or similarity.shape != quality.shape or not np.isfinite(quality).all():
        raise ValueError(f'each of at least one comparison needs a finite quality, got shapes {similarity.shape} and {quality.shape}')
    order = np.argsort(quality, kind='stable')
    ordered = quality[order]
    first = np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)  # so many are turned away
    wrong = (similarity[order] < threshold)[::-1].cumsum()[::-1]
    return first / len(order), wrong[first] / (len(order) - first)

"""The plane of angle and feature norm in six parts."""
import numpy as np

#: Two norms by three angles; a sample's zone is the place of its name here.
ZONES = ('low norm, easy', 'low norm, medium', 'low norm, hard', 'high norm, easy', 'high norm, medium', 'high norm, hard')


def zones(norm: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which zone each sample is in.

    Norms count as high from their median on. Samples are easy, medium or hard by the thirds of their angles to the own prototype.

    Args:
        norm: of the features, ``[N]``, finite.
        angle: to the own prototype, ``[N]``, finite.

    Returns:
        int64 ``[N]`` in 0 ... 5, into :data:`ZONES`, and the three limits: of the norm, and the two of the angle.
    """
    limits = np.array([np.median(norm), *np.quantile(angle, (1 / 3, 2 / 3))])
    return 3 * (norm >= limits[0]) + np.searchsorted(limits[1:], angle, side='right'), limits

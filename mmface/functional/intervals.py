"""How far a share can be trusted."""
from math import sqrt
from statistics import NormalDist


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion (E. B. Wilson, 1927), within [0, 1].

    Trials count as independent. Comparisons that share images or people are not: then the true interval is wider.

    Raises:
        ValueError: for no trials, or successes outside [0, trials].
    """
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f'{successes} successes of {trials} trials is not a proportion')
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = successes / trials
    centre = p + z * z / (2 * trials)
    half = z * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials  # at the ends the bounds are 0 and 1 exactly, rounding apart
    return (centre - half) / scale if successes else 0., (centre + half) / scale if successes < trials else 1.

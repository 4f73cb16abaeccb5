"""How far a share can be trusted: 95 % intervals unless asked otherwise, from counts of independent trials.

Comparisons that share images or people are not independent: their true intervals are wider (:mod:`.identity_bootstrap`).
"""
from math import inf, sqrt
from statistics import NormalDist

Interval = tuple[float, float]


def normal_quantile(confidence: float) -> float:
    """How many standard deviations a two-sided interval reaches to either side: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for a proportion (E. B. Wilson, 1927), within [0, 1].

    Raises:
        ValueError: for no trials, or successes outside [0, trials].
    """
    _check(successes, trials)
    z = normal_quantile(confidence)
    p = successes / trials
    centre = p + z * z / (2 * trials)
    half = z * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials  # at the ends the bounds are 0 and 1 exactly, rounding apart
    return (centre - half) / scale if successes else 0., (centre + half) / scale if successes < trials else 1.


def clopper_pearson_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """The exact interval for a proportion (C. J. Clopper, E. S. Pearson, 1934): never covers less than it says, usually more.

    Raises:
        ValueError: as :func:`wilson_interval`.
    """
    from scipy.special import betaincinv
    _check(successes, trials)
    tail = (1 - confidence) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1
    return float(low), float(high)


def rule_of_three(trials: int) -> float:
    """The upper 95 % bound of a proportion of which nothing was seen in ``trials``: 3 / n (J. A. Hanley, A. Lippman-Hand, 1983).

    One-sided, and above 1 for fewer than three trials, which say nothing.
    """
    _check(0, trials)
    return 3 / trials


def mean_interval(*counts: tuple[int, int], confidence: float = 0.95) -> Interval:
    """For the mean of independent proportions, each ``(successes, trials)``: an equal error rate is one, of FMR and FNMR.

    Wilson's intervals, their distances to the shares added in squares (R. G. Newcombe, Statistics in Medicine 17, 1998; G. Y. Zou and
    A. Donner, Statistics in Medicine 27, 2008). A threshold counts as given, not as chosen on the same trials.
    """
    shares, bounds = zip(*(_share(pair, confidence) for pair in counts), strict=True)
    mean = sum(shares) / len(shares)
    low, high = (sqrt(sum((p - bound[side])**2 for p, bound in zip(shares, bounds, strict=True))) / len(shares) for side in (0, 1))
    return max(mean - low, 0.), min(mean + high, 1.)


def ratio_interval(first: tuple[int, int], second: tuple[int, int], confidence: float = 0.95) -> Interval:
    """For the first proportion over the second, each ``(successes, trials)`` and independent; the upper bound is inf where the second is 0.

    From Wilson's intervals of the two by the method of A. Donner and G. Y. Zou (Statistical Methods in Medical Research 21, 2012).
    """
    (p, (low, high)), (q, (q_low, q_high)) = (_share(pair, confidence) for pair in (first, second))
    product = p * q
    # The roots of a r^2 - 2 p q r + c, written so that nothing is subtracted from something as large.
    c = low * (2 * p - low)
    denominator = product + sqrt(max(product * product - q_high * (2 * q - q_high) * c, 0))
    a = q_low * (2 * q - q_low)
    root = sqrt(max(product * product - a * high * (2 * p - high), 0))
    return c / denominator if c else 0., (product + root) / a if a else inf


def _share(counts: tuple[int, int], confidence: float) -> tuple[float, Interval]:
    successes, trials = counts
    return successes / trials, wilson_interval(successes, trials, confidence)


def _check(successes: int, trials: int) -> None:
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f'{successes} successes of {trials} trials is not a proportion')

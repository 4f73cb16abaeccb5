"""Is one recipe better than another, and how much better would it have to be for this test to see it?"""
from typing import NamedTuple

import numpy as np

from mmface.functional.identity_bootstrap import percentile_interval

CONFIDENCE, POWER = .95, .8


class Estimate(NamedTuple):
    """A mean over trainings.

    Attributes:
        value: the mean.
        interval: 95 %, for other people and other seeds.
        people: 95 %, for other people but these very trainings: the percentile interval of the draws.
        seeds: the standard deviation between trainings; NaN of one.
        detectable: the difference from 0 that would be found with about 80 % probability; NaN of one training.
    """
    value: float
    interval: tuple[float, float]
    people: tuple[float, float]
    seeds: float
    detectable: float

    @property
    def verdict(self) -> str:
        """Of a difference: ``'better'``, ``'worse'``, ``'tie'`` where the interval holds 0, or ``'one seed'``, which is none."""
        if np.isnan(self.seeds):
            return 'one seed'
        if self.interval[0] > 0:
            return 'better'
        return 'worse' if self.interval[1] < 0 else 'tie'


def estimate(values: np.ndarray, draws: np.ndarray) -> Estimate:
    """The mean of S trainings and how far it can be trusted.

    Two things could have been others: the people of the test, whose effect the draws show (all trainings met the same draws), and the
    seeds, whose effect the trainings show. The squares of both standard errors are added, and Student's t takes its degrees of freedom from
    them by the rule of Welch and Satterthwaite, so that three seeds which scatter make a wide interval, and three that agree do not. What a
    draw of people does to one training alone is counted in both, which errs on the wide side. Of a single training only people are counted,
    and nothing is said about what could be detected.

    Args:
        values: float ``[S]``: of each training, or the difference of two that share the seed.
        draws: float ``[S, R]``: likewise in R drawn sets of people; NaN where a set has no answer.
    """
    from scipy.special import nctdtrinc, stdtrit
    count = len(values)
    together = draws.mean(0)
    known = together[~np.isnan(together)]
    people = known.var(ddof=1) if len(known) > 1 else np.nan
    seeds = values.var(ddof=1) / count if count > 1 else 0.
    error = np.sqrt(people + seeds)
    freedom = (people + seeds)**2 / (seeds**2 / (count - 1)) if seeds else np.inf
    freedom = min(freedom, 1e9)
    sure = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    mean, half = float(values.mean()), sure * float(error)
    spread, detectable = (float(values.std(ddof=1)), float(nctdtrinc(freedom, 1 - POWER, sure) * error)) if count > 1 else (np.nan, np.nan)
    return Estimate(mean, (mean - half, mean + half), percentile_interval(together, CONFIDENCE), spread, detectable)

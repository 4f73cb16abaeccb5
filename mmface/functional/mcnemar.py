"""Is one of two classifiers better on the same trials?"""
import numpy as np


def mcnemar_test(first_right: np.ndarray, second_right: np.ndarray) -> tuple[int, int, float]:
    """The exact two-sided test of Q. McNemar (Psychometrika 12, 1947) on the trials that exactly one of the two got right.

    Trials count as independent. Where the two never differ, the p-value is 1.

    Args:
        first_right: bool [N], whether the first got trial n right.
        second_right: bool [N], likewise the second.

    Returns:
        How many trials only the first got right, how many only the second, and the p-value: how often a fair coin would split them at least
        as unevenly.
    """
    from scipy.special import bdtr
    only_first, only_second = int((first_right & ~second_right).sum()), int((second_right & ~first_right).sum())
    return only_first, only_second, min(1., 2 * float(bdtr(min(only_first, only_second), only_first + only_second, .5)))

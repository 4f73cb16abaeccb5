"""Timing things side by side, for tables."""
import statistics
import time
from collections.abc import Callable, Sequence


def take_turns(calls: Sequence[Callable[[], object]], count: int, turn: int = 20) -> list[float]:
    """Median seconds of each, called ``count`` times or a few more, so that a busy machine disturbs all alike.

    Each goes on for ``turn`` calls, and one more before them that does not count: threads of the one before go on spinning for a while.
    Who goes first changes.
    """
    seconds: list[list[float]] = [[] for _ in calls]
    for number in range(-(-count // turn)):
        for at in range(len(calls))[::1 if number % 2 else -1]:
            calls[at]()
            for _ in range(turn):
                start = time.perf_counter()
                calls[at]()
                seconds[at].append(time.perf_counter() - start)
    return [statistics.median(times) for times in seconds]

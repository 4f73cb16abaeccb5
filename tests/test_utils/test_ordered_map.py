"""Threads whose results come in order."""
import itertools
import threading
import time

import pytest

from mmface.utils.ordered_map import ordered_map


def test_results_come_in_the_order_of_the_items_whoever_is_first():
    def slow_for_even(item):
        time.sleep(.002 * (item % 2 == 0))
        return item**2

    assert list(ordered_map(slow_for_even, range(50), 4)) == [item**2 for item in range(50)]


def test_items_without_end_are_taken_only_as_far_as_needed():
    taken = []
    results = ordered_map(lambda item: taken.append(item) or item, itertools.count(), 2)
    assert list(itertools.islice(results, 5)) == [0, 1, 2, 3, 4]
    results.close()
    assert max(taken) < 5 + 4 * 2 + 1


def test_an_error_comes_in_its_turn_and_stops_the_rest():
    done, release = [], threading.Event()

    def work(item):
        if item == 3:
            release.set()
            raise KeyError(item)
        done.append(item)
        return item

    results = ordered_map(work, range(1000), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    release.wait()
    with pytest.raises(KeyError, match='3'):
        next(results)
    assert len(done) < 50

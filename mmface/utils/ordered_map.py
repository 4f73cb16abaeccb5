"""Threads whose results come in order."""
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar('T')
R = TypeVar('R')


def ordered_map(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Like ``map``, with threads. At most ``4 * workers`` items are ahead of what has been taken; an error comes in its turn.

    Args:
        function: what releases the interpreter for most of its time: reading, decoding, writing.
        items: may be endless.
        workers: how many threads.
    """
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > 4 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

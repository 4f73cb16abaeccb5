"""Errors that end all ranks, with the same reason."""
from collections.abc import Callable
from typing import TypeVar

from mmengine.dist import all_gather_object

T = TypeVar('T')


def together(work: Callable[[], T]) -> T:
    """Calls ``work`` on every rank, and where it fails on one, raises on all of them: none is left waiting for the others.

    Raises:
        Exception: what ``work`` raised here.
        RuntimeError: what it raised on another rank, and which.
    """
    fault: Exception | None = None
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 (it is raised below)
        fault = error
    faults = all_gather_object(None if fault is None else f'{type(fault).__name__}: {fault}')
    if fault is not None:
        raise fault
    for rank, text in enumerate(faults):
        if text is not None:
            raise RuntimeError(f'rank {rank} stopped with {text}')
    return result

"""How every reader says that something on disk is wrong."""
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from mmface.utils.data_format_error import DataFormatError, FaultInFile

__all__ = ['AbsentImagesWarning', 'DataFormatError', 'DataFormatWarning', 'collect_faults', 'is_collecting', 'read_each', 'report']

Item = TypeVar('Item')
Result = TypeVar('Result')
_MOST = 1000  # faults of one file: who has more has the wrong format


class DataFormatWarning(FaultInFile, UserWarning):
    """The data can be used, but something in them deserves a look."""


class AbsentImagesWarning(DataFormatWarning):
    """A list was read without its images, whose folder was neither given nor found."""


_faults: ContextVar[list[DataFormatError] | None] = ContextVar('faults', default=None)


def report(fault: DataFormatError) -> None:
    """Raises ``fault``, unless :func:`collect_faults` is listening: then it is kept and the reader goes on with what is left.

    For readers that find one fault among many records or lines and could go on; whatever makes the rest meaningless is raised.
    """
    faults = _faults.get()
    if faults is None:
        raise fault
    faults.append(fault)


def is_collecting() -> bool:
    """Whether somebody looks for all faults: then what was found in earlier runs does not count."""
    return _faults.get() is not None


@contextmanager
def collect_faults() -> Iterator[list[DataFormatError]]:
    """Within this context readers report faults into the list instead of stopping at the first. Only for those who look for all.

    It holds for the thread that enters it.
    """
    faults: list[DataFormatError] = []
    token = _faults.set(faults)
    try:
        yield faults
    finally:
        _faults.reset(token)


def read_each(read: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """``read`` of every item. One that it refuses ends it; where somebody collects all faults, those of the items behind it are found too.

    Raises:
        DataFormatError: of ``read``.
    """
    results: list[Result] = []
    faults: list[DataFormatError] = []
    iterator = iter(items)  # which may refuse to go on, too
    while True:
        try:
            results.append(read(next(iterator)))
        except StopIteration:
            break
        except DataFormatError as fault:
            faults.append(fault)
            if not is_collecting() or len(faults) == _MOST:
                break
    for fault in faults[:-1]:
        report(fault)
    for fault in faults[-1:]:
        raise fault
    return results

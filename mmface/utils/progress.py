"""How far a long pass is, on the standard error stream."""
import sys
import time
from types import TracebackType
from typing import TextIO

_QUIET, _TERMINAL, _LOG = 2., .5, 30.  # seconds: before the first line; between lines


class Progress:
    """``what: done of total unit, 12,345/s, 3:20 left``: one line that renews itself on a terminal, a line every half minute in a log.

    Work of less than two seconds says nothing. A context manager; the last line stands when the block ends well.

    Args:
        what: what is being done.
        total: how much there is, or None where that is what is found out.
        unit: of what.
        out: where to; by default ``sys.stderr``.
    """

    def __init__(self, what: str, total: int | None, unit: str = 'images', out: TextIO | None = None) -> None:
        self.what, self.total, self.unit = what, total, unit
        self.out = out or sys.stderr
        self.done = 0
        self._first = self.done
        self._begin = time.monotonic()
        self._next = self._begin + _QUIET
        self._shown = False

    def skip(self, done: int) -> None:
        """That much was done before, and tells nothing about the speed."""
        self.done += done
        self._first = self.done

    def advance(self, done: int = 1) -> None:
        self.done += done
        now = time.monotonic()
        if now >= self._next:
            self._next = now + (_TERMINAL if self.out.isatty() else _LOG)
            self._show(now)

    def __enter__(self) -> 'Progress':  # noqa: PYI034
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._shown:
            return
        if kind is None:
            self._show(time.monotonic())
        if self.out.isatty():
            self.out.write('\n')

    def _show(self, now: float) -> None:
        self._shown = True
        speed = (self.done - self._first) / max(now - self._begin, 1e-9)
        of = '' if self.total is None else f' of {self.total:,}'
        line = f'{self.what}: {self.done:,}{of} {self.unit}, {speed:,.0f}/s'
        if speed and self.total is not None:
            left = round((self.total - self.done) / speed)
            line += f', {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left'
        self.out.write(f'\r\x1b[K{line}' if self.out.isatty() else line + '\n')
        self.out.flush()

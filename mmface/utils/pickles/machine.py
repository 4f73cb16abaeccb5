"""Reads the plain data in a pickle; imports nothing and calls nothing that the pickle names."""
import pickletools
import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..data_format_error import DataFormatError
from .values import Span, decode, kind_of

_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
_DEPTH = 32
_SHORT = 256  # bytes of a name or a number
_FREE_OPCODES = 1 << 18
_PLAIN = 'expected plain data; nothing that a pickle names is imported or called'
_CUT = 'the file is cut short or damaged: copy it again'


class PickleMachine:
    """A stack machine with the opcodes it is given.

    Time and memory are bounded by the size of the file: lengths are compared with the bytes left, strings stay in the file as spans, the
    memo is a map, and the number of opcodes is limited (an honest file has one in hundreds of bytes). What was put into something else is
    finished and grows no more, and what is not finished cannot be fetched from the memo: so nothing contains itself. Nothing recurses.

    Args:
        data: the pickle, ``bytes`` or a memory map.
        opcodes: name -> what it does to the machine; see :mod:`mmface.utils.pickles.plain_opcodes`.
        path: the file, for messages.
        inside: the part of the file, for messages: ``'data.pkl, '``.
        bytes_per_opcode: opcodes beyond the first 262,144 must be this rare.
        start: where in ``data`` the pickle begins.
        more: whether something may follow it; ``at`` is then where.

    Attributes:
        most_unfinished: lists, mappings and arrays that may be open at a time, one in the other or side by side.
    """
    most_unfinished = _DEPTH

    def __init__(self,
                 data: Any,
                 opcodes: Mapping[str, Callable[['PickleMachine'], Any]],
                 path: Path,
                 inside: str = '',
                 bytes_per_opcode: int = 32,
                 start: int = 0,
                 more: bool = False) -> None:
        self.data, self.opcodes, self.path, self.inside = data, opcodes, path, inside
        self.size = len(data)
        self.limit = _FREE_OPCODES + self.size // bytes_per_opcode
        self.at = self.offset = start  # the next byte, and that of the opcode that runs
        self.count = 0  # of the opcodes that have run
        self.more = more
        self.opcode = ''
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.unfinished: set[int] = set()  # id() of what is on the stack and may still grow

    def run(self) -> Any:
        """The object in the pickle, of lists, tuples, numbers and the stand-ins of :mod:`mmface.utils.pickles.values`.

        Raises:
            DataFormatError: for an opcode or a name that is not known, and for whatever else is wrong, with the offset.
        """
        while self.opcode != 'STOP':
            self.offset = self.at
            byte = self.take_bytes(1)[0]
            self.opcode = _NAMES.get(byte, f'byte {byte:#04x}')
            self.count += 1
            if self.opcode not in self.opcodes:
                raise self.refuse(f'opcode {self.opcode}', _PLAIN)
            if self.count > self.limit:
                raise self.refuse(f'opcode {self.opcode} is number {self.count}', f'{self.size} bytes of honest data have fewer')
            self.opcodes[self.opcode](self)
        if len(self.stack) != 1 or self.marks:
            raise self.refuse(f'{len(self.stack)} objects and {len(self.marks)} marks left at STOP', _CUT)
        if self.at != self.size and not self.more:
            raise self.refuse(f'{self.size - self.at} bytes after STOP', 'the file is damaged, or two files were joined')
        return self.stack[0]

    def refuse(self, value: str, hint: str = _PLAIN) -> DataFormatError:
        """The error to raise at the opcode that runs."""
        return DataFormatError(self.path, f'{self.inside}offset {self.offset}', value, hint)

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def push_unfinished(self, value: Any) -> None:
        """Pushes something that may grow until it is put into something else."""
        if len(self.unfinished) == self.most_unfinished:
            raise self.refuse(f'opcode {self.opcode} nests deeper than {self.most_unfinished}')
        self.unfinished.add(id(value))
        self.stack.append(value)

    def push_mark(self) -> None:
        if len(self.marks) == _DEPTH:
            raise self.refuse(f'opcode {self.opcode} nests deeper than {_DEPTH}')
        self.marks.append(len(self.stack))

    def take(self, count: int = 1) -> list:
        """Takes the ``count`` topmost values, which are finished from now on."""
        return self._take_from(len(self.stack) - count)

    def take_to_mark(self) -> list:
        """Takes the values above the last mark, and the mark."""
        if not self.marks:
            raise self.refuse(f'opcode {self.opcode} without a mark', _CUT)
        return self._take_from(self.marks.pop())

    def _take_from(self, start: int) -> list:
        if start < (self.marks[-1] if self.marks else 0):
            raise self.refuse(f'opcode {self.opcode} finds too few values', _CUT)
        values = self.stack[start:]
        del self.stack[start:]
        self.unfinished.difference_update(map(id, values))
        return values

    def top(self, *kinds: type) -> Any:
        """The topmost value, left where it is, which must be unfinished and of these kinds."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise self.refuse(f'opcode {self.opcode} finds too few values', _CUT)
        value = self.stack[-1]
        if type(value) not in kinds or id(value) not in self.unfinished:
            raise self.refuse(f'opcode {self.opcode} on {kind_of(value)}')
        return value

    def store(self, index: int) -> None:
        if not 0 <= index <= self.count:
            raise self.refuse(f'opcode {self.opcode} with the memo index {index}')
        if not self.stack:
            raise self.refuse(f'opcode {self.opcode} finds no value', _CUT)
        self.memo[index] = self.stack[-1]

    def fetch(self, index: int) -> None:
        if index not in self.memo:
            raise self.refuse(f'opcode {self.opcode} with the memo index {index}, which was never stored', _CUT)
        if id(self.memo[index]) in self.unfinished:
            raise self.refuse(f'opcode {self.opcode} puts {kind_of(self.memo[index])} into itself')
        self.stack.append(self.memo[index])

    def take_bytes(self, count: int) -> bytes:
        self.skip(count)
        return self.data[self.at - count:self.at]

    def skip(self, count: int) -> None:
        self.check_left(count)
        self.at += count

    def check_left(self, count: int) -> None:
        if not 0 <= count <= self.size - self.at:
            raise self.refuse(f'pickle truncated: opcode {self.opcode} claims {count} bytes, {self.size - self.at} left', _CUT)

    def take_number(self, layout: str) -> int:
        """The number behind an opcode, as :mod:`struct` calls it."""
        return struct.unpack(layout, self.take_bytes(struct.calcsize(layout)))[0]

    def take_span(self, kind: str, layout: str) -> Span:
        """The bytes behind an opcode, after their number."""
        count = self.take_number(layout)
        self.skip(count)
        return Span(kind, self.at - count, self.at)

    def take_line(self, longest: int = _SHORT) -> Span:
        """What follows up to the end of the line, which is left out."""
        start = self.at
        end = self.data.find(b'\n', start, min(start + longest, self.size))
        if end < 0:
            raise self.refuse(f'pickle truncated: opcode {self.opcode} without an end of line', _CUT)
        self.at = end + 1
        return Span('bytes', start, end)

    def text(self, value: Any) -> str:
        """The short text that ``value`` must be: a name, a type."""
        if type(value) is not Span or value.stop - value.start > _SHORT:
            raise self.refuse(f'opcode {self.opcode} on {kind_of(value)}, expected a name')
        try:
            return decode(self.data, value).decode('utf-8')
        except ValueError as error:
            raise self.refuse(f'opcode {self.opcode} on broken text: {error}', _CUT) from None

    def digits(self, line: Span) -> str:
        text = self.text(line)
        if not re.fullmatch('-?[0-9]{1,20}', text):
            raise self.refuse(f'opcode {self.opcode} with the number {text!r}', _CUT)
        return text

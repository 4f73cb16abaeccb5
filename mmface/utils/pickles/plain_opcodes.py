"""The opcodes of lists, tuples, numbers and text; those that name or call something are for each reader to add."""
from collections.abc import Callable
from typing import Any

from .machine import PickleMachine as Machine
from .values import Span


def _protocol(machine: Machine) -> None:
    if machine.take_number('<B') > 5:
        raise machine.refuse('pickle protocol above 5')


def _integer_line(machine: Machine) -> None:
    line = machine.digits(machine.take_line())
    machine.push({'00': False, '01': True}.get(line, int(line)))


def _repr(machine: Machine) -> None:
    line = machine.take_line(machine.size)
    ends = machine.data[line.start:line.start + 1], machine.data[line.stop - 1:line.stop]
    if line.stop - line.start < 2 or ends not in ((b"'", b"'"), (b'"', b'"')):
        raise machine.refuse('opcode STRING without quotes')
    machine.push(Span('repr', line.start + 1, line.stop - 1))


def _append(machine: Machine, values: list) -> None:
    machine.top(list).extend(values)


PLAIN_OPCODES: dict[str, Callable[[Machine], Any]] = {
    'PROTO': _protocol,
    'FRAME': lambda machine: machine.check_left(machine.take_number('<Q')),
    'STOP': lambda _: None,
    'MARK': Machine.push_mark,
    'EMPTY_LIST': lambda machine: machine.push_unfinished([]),
    'LIST': lambda machine: machine.push_unfinished(machine.take_to_mark()),
    'APPEND': lambda machine: _append(machine, machine.take()),
    'APPENDS': lambda machine: _append(machine, machine.take_to_mark()),
    'EMPTY_TUPLE': lambda machine: machine.push(()),
    'TUPLE': lambda machine: machine.push(tuple(machine.take_to_mark())),
    'TUPLE1': lambda machine: machine.push(tuple(machine.take(1))),
    'TUPLE2': lambda machine: machine.push(tuple(machine.take(2))),
    'TUPLE3': lambda machine: machine.push(tuple(machine.take(3))),
    'STRING': _repr,
    'BINSTRING': lambda machine: machine.push(machine.take_span('bytes', '<i')),
    'SHORT_BINSTRING': lambda machine: machine.push(machine.take_span('bytes', '<B')),
    'BINBYTES': lambda machine: machine.push(machine.take_span('bytes', '<I')),
    'SHORT_BINBYTES': lambda machine: machine.push(machine.take_span('bytes', '<B')),
    'BINBYTES8': lambda machine: machine.push(machine.take_span('bytes', '<Q')),
    'BYTEARRAY8': lambda machine: machine.push(machine.take_span('bytes', '<Q')),
    'BINUNICODE': lambda machine: machine.push(machine.take_span('str', '<I')),
    'SHORT_BINUNICODE': lambda machine: machine.push(machine.take_span('str', '<B')),
    'BINUNICODE8': lambda machine: machine.push(machine.take_span('str', '<Q')),
    'INT': _integer_line,
    'BININT': lambda machine: machine.push(machine.take_number('<i')),
    'BININT1': lambda machine: machine.push(machine.take_number('<B')),
    'BININT2': lambda machine: machine.push(machine.take_number('<H')),
    'LONG1': lambda machine: machine.push(int.from_bytes(machine.take_bytes(machine.take_number('<B')), 'little', signed=True)),
    'NEWTRUE': lambda machine: machine.push(True),
    'NEWFALSE': lambda machine: machine.push(False),
    'NONE': lambda machine: machine.push(None),
    'PUT': lambda machine: machine.store(int(machine.digits(machine.take_line()))),
    'BINPUT': lambda machine: machine.store(machine.take_number('<B')),
    'LONG_BINPUT': lambda machine: machine.store(machine.take_number('<I')),
    'MEMOIZE': lambda machine: machine.store(len(machine.memo)),
    'GET': lambda machine: machine.fetch(int(machine.digits(machine.take_line()))),
    'BINGET': lambda machine: machine.fetch(machine.take_number('<B')),
    'LONG_BINGET': lambda machine: machine.fetch(machine.take_number('<I')),
}

"""The 42 opcodes and 13 names that packs of verification pairs need, whoever wrote them; all others are refused by name."""
import re
from collections.abc import Callable
from typing import Any

from mmface.utils.pickles.machine import PickleMachine as Machine
from mmface.utils.pickles.plain_opcodes import PLAIN_OPCODES
from mmface.utils.pickles.values import Array, Dtype, Global, Span, kind_of

_CODE = re.compile('b1|[iu][1248]|f[248]|O8|[US][1-9][0-9]{0,4}')
_NDARRAY = Global('numpy.ndarray')
_EMPTY = Span('bytes', 0, 0)
_MAX_DIMENSIONS = 32


def _encode(machine: Machine, text: Any, codec: Any) -> Span:
    if type(text) is not Span or text.kind != 'str' or machine.text(codec) not in ('latin1', 'latin-1'):
        raise machine.refuse('_codecs.encode of anything but text to latin1')
    return Span('latin1', text.start, text.stop)


def _bytes(machine: Machine, data: Any = _EMPTY) -> Span:
    if type(data) is not Span or data.kind == 'str':
        raise machine.refuse(f'bytes or bytearray of {kind_of(data)}')
    return data


def _dtype(machine: Machine, code: Any, *_: Any) -> Dtype:
    name = machine.text(code)
    if not _CODE.fullmatch(name):
        raise machine.refuse(f'numpy.dtype {name!r}')
    return Dtype(name)


def _reconstruct(machine: Machine, kind: Any, *_: Any) -> Array:
    if kind != _NDARRAY:
        raise machine.refuse(f'_reconstruct of {kind_of(kind)}')
    return Array()


def _frombuffer(machine: Machine, data: Any, dtype: Any, shape: Any, order: Any) -> Array:
    return _fill(machine, Array(), shape, dtype, machine.text(order) == 'F', data)


def _scalar(machine: Machine, dtype: Any, data: Any) -> bool:
    if type(dtype) is not Dtype or dtype.code != 'b1':
        raise machine.refuse(f'numpy scalar of {kind_of(dtype)}, expected a bool')
    value = machine.text(data)
    if value not in ('\0', '\1'):
        raise machine.refuse(f'numpy bool {value!r}')
    return value == '\1'


def _fill(machine: Machine, array: Array, shape: Any, dtype: Any, fortran: Any, data: Any) -> Array:
    whole = type(shape) is tuple and len(shape) <= _MAX_DIMENSIONS and all(type(size) is int and size >= 0 for size in shape)
    whole = whole and type(dtype) is Dtype and type(data) is (list if dtype.code == 'O8' else Span)
    if not whole or (type(data) is Span and data.kind == 'str'):
        raise machine.refuse(f'numpy array from {kind_of(shape)}, {kind_of(dtype)} and {kind_of(data)}')
    array.shape, array.dtype, array.fortran, array.data = shape, dtype, bool(fortran), data
    return array


def _build(machine: Machine) -> None:
    state, = machine.take()
    target = machine.top(Array, Dtype)
    if type(state) is not tuple or len(state) < 2 or (type(target) is Array and len(state) != 5):
        raise machine.refuse(f'opcode BUILD of {kind_of(target)} from {kind_of(state)}')
    if type(target) is Array:
        _fill(machine, target, *state[1:])
    else:
        target.order = machine.text(state[1])
        if target.order not in ('<', '>', '|'):
            raise machine.refuse(f'numpy.dtype with the byte order {target.order!r}')
    machine.unfinished.discard(id(target))


_TO_BE_BUILT = (_dtype, _reconstruct)

# name: what calling it does, and with how many arguments
_NAMES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    '_codecs.encode': (_encode, (2, )),
    'numpy.dtype': (_dtype, (1, 2, 3)),
    'numpy.ndarray': (Array, ()),
    **{f'{module}.{name}': (_bytes, (0, 1)) for module in ('__builtin__', 'builtins') for name in ('bytes', 'bytearray')},
    **{f'numpy.{core}.multiarray._reconstruct': (_reconstruct, (3, )) for core in ('core', '_core')},
    **{f'numpy.{core}.multiarray.scalar': (_scalar, (2, )) for core in ('core', '_core')},
    **{f'numpy.{core}.numeric._frombuffer': (_frombuffer, (4, )) for core in ('core', '_core')},
}


def _global(machine: Machine, module: Any, name: Any) -> None:
    full = f'{machine.text(module)}.{machine.text(name)}'
    if full not in _NAMES:
        raise machine.refuse(f'opcode {machine.opcode} names {full}')
    machine.push(Global(full))


def _reduce(machine: Machine) -> None:
    called, arguments = machine.take(2)
    if type(called) is not Global or type(arguments) is not tuple:
        raise machine.refuse(f'opcode REDUCE of {kind_of(called)} with {kind_of(arguments)}')
    function, counts = _NAMES[called.name]
    if len(arguments) not in counts:
        raise machine.refuse(f'opcode REDUCE calls {called.name} with {len(arguments)} arguments')
    value = function(machine, *arguments)
    push = machine.push_unfinished if function in _TO_BE_BUILT else machine.push
    push(value)


OPCODES: dict[str, Callable[[Machine], Any]] = {
    **PLAIN_OPCODES,
    'GLOBAL': lambda machine: _global(machine, machine.take_line(), machine.take_line()),
    'STACK_GLOBAL': lambda machine: _global(machine, *machine.take(2)),
    'REDUCE': _reduce,
    'BUILD': _build,
}

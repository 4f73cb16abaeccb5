"""All that the pickles of ``torch.save`` do, with tensors and plain values made here and every other name left inert."""
import re
from collections.abc import Callable
from typing import Any

import torch

from mmface.utils.pickles.plain_opcodes import PLAIN_OPCODES
from mmface.utils.pickles.values import Global, Span, decode, kind_of

from .machine import CheckpointMachine as Machine
from .stand_ins import DTYPES, Inert, StorageRef, TensorRef

_MAX_DIMENSIONS = 64
_MAX_NUMBER = 256  # bytes
#: Modules that do things to the machine, some under the name of Python 2, which protocol 2 writes. No network needs one of them, so a file
#: that names one was made to harm.
_HOSTILE = re.compile(r'(os|posix|nt|posixpath|subprocess|commands|sys|shutil|socket|runpy|importlib|imp|ctypes|pty|webbrowser|urllib2?|'
                      r'http|httplib|asyncio|multiprocessing|marshal|pickle|_pickle|cPickle|pip|timeit|pdb|bdb|cProfile)(\..*)?')
_HOSTILE_FUNCTION = re.compile(r'(builtins|__builtin__|io|_io)\.(eval|exec|execfile|compile|open|file|__import__|input|breakpoint)')


def _global(machine: Machine, module: Any, name: Any) -> None:
    module, name = machine.text(module), machine.text(name)
    if _HOSTILE.fullmatch(module) or _HOSTILE_FUNCTION.fullmatch(f'{module}.{name}'):
        raise machine.refuse(f'names {module}.{name}', 'a checkpoint has no use for it: this file was made to run code. Nothing was run')
    machine.push(Global(f'{module}.{name}'))


def _storage(machine: Machine, *parts: Any) -> StorageRef:
    """('storage', class, key, device, count), with a view behind it in old files."""
    if len(parts) not in (5, 6) or machine.text(parts[0]) != 'storage' or type(parts[1]) is not Global or type(parts[4]) is not int:
        raise machine.refuse(f'a persistent id of {[kind_of(part) for part in parts]}, expected a storage')
    if len(parts) == 6 and parts[5] is not None:
        raise machine.refuse('a storage that is a view of another one', 'save the file again with a newer torch')
    kind = parts[1].name.rpartition('.')[2]
    if kind not in DTYPES or parts[4] < 0:
        raise machine.refuse(f'a {parts[1].name} of {parts[4]}', f'expected one of {", ".join(DTYPES)}')
    return machine.add_storage(StorageRef(machine.text(parts[2]), DTYPES[kind], parts[4]))


def _persistent(machine: Machine) -> None:
    identity, = machine.take()
    if type(identity) is not tuple or not identity:
        raise machine.refuse(f'a persistent id that is {kind_of(identity)}')
    if len(identity) == 4 and machine.text(identity[0]) == 'module' and type(identity[1]) is Global:
        machine.push(identity[1])  # the class of a network, with the text of its source, which old files have
    else:
        machine.push(_storage(machine, *identity))


def _tensor(machine: Machine, storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> TensorRef:
    whole = type(storage) is StorageRef and all(type(numbers) is tuple and len(numbers) <= _MAX_DIMENSIONS for numbers in (size, stride))
    if not whole or not all(type(number) is int and number >= 0 for number in (offset, *size, *stride)):
        raise machine.refuse(f'a tensor from {kind_of(storage)}, {kind_of(offset)}, {kind_of(size)} and {kind_of(stride)}')
    return TensorRef(storage, offset, size, stride)


def _tensor_of_type(machine: Machine, storage: Any, offset: Any, size: Any, stride: Any, *rest: Any) -> TensorRef:
    dtype = rest[2]
    kind = getattr(torch, dtype.name.removeprefix('torch.'), None) if type(dtype) is Global else None
    if not isinstance(kind, torch.dtype):
        raise machine.refuse(f'a tensor of the type {kind_of(dtype)}')
    return _tensor(machine, storage, offset, size, stride)._replace(dtype=kind)


def _parameter(_: Machine, data: Any, *__: Any) -> Any:
    return data


def _ordered_dict(machine: Machine, pairs: Any = ()) -> dict:
    if type(pairs) not in (list, tuple) or not all(type(pair) in (list, tuple) and len(pair) == 2 for pair in pairs):
        raise machine.refuse(f'an OrderedDict of {kind_of(pairs)}')
    found: dict = {}
    _put(machine, found, [value for pair in pairs for value in pair])
    return found


def _size(_: Machine, numbers: Any) -> tuple:
    return tuple(numbers) if type(numbers) in (list, tuple) else ()


def _set_of(_: Machine, values: Any = ()) -> Inert:
    return Inert('builtins.set', values=list(values) if type(values) in (list, tuple) else [])


# name: what calling it does, and the numbers of arguments it may be called with
_CALLED: dict[str, tuple[Callable[..., Any], range]] = {
    **{f'{module}.{kind}': (_set_of, range(2)) for module in ('builtins', '__builtin__') for kind in ('set', 'frozenset')},
    'collections.OrderedDict': (_ordered_dict, range(2)),
    'torch.Size': (_size, range(1, 2)),
    'torch._utils._rebuild_tensor': (_tensor, range(4, 5)),
    'torch._utils._rebuild_tensor_v2': (_tensor, range(6, 8)),
    'torch._utils._rebuild_tensor_v3': (_tensor_of_type, range(7, 9)),
    'torch._utils._rebuild_parameter': (_parameter, range(3, 4)),
    'torch._utils._rebuild_parameter_with_state': (_parameter, range(4, 5)),
}


def _call(machine: Machine, called: Any, arguments: Any) -> None:
    if type(arguments) is not tuple or type(called) not in (Global, Inert):
        raise machine.refuse(f'opcode {machine.opcode} of {kind_of(called)} with {kind_of(arguments)}')
    function, counts = _CALLED.get(called.name, (None, range(0)))
    if function is None:
        machine.push(Inert(_named(called, arguments), arguments))
    elif len(arguments) not in counts:
        raise machine.refuse(f'opcode {machine.opcode} calls {called.name} with {len(arguments)} arguments')
    else:
        value = function(machine, *arguments)
        (machine.push_unfinished if type(value) is dict else machine.push)(value)


def _named(called: Any, arguments: tuple) -> str:
    """The class behind the functions that only make an object of it."""
    makes = called.name in ('copyreg._reconstructor', 'copy_reg._reconstructor', 'copyreg.__newobj__')
    return arguments[0].name if makes and arguments and type(arguments[0]) is Global else called.name


def _call_from_mark(machine: Machine) -> None:
    called, *arguments = machine.take_to_mark() or [None]
    _call(machine, called, tuple(arguments))


def _instance(machine: Machine) -> None:
    _global(machine, machine.take_line(), machine.take_line())
    called, = machine.take()
    _call(machine, called, tuple(machine.take_to_mark()))


def _new_with_keywords(machine: Machine) -> None:
    called, arguments, _ = machine.take(3)
    _call(machine, called, arguments)


def _build(machine: Machine) -> None:
    state, = machine.take()
    target = _target(machine)
    if type(target) is Inert:
        target.state = state
    elif type(target) not in (dict, TensorRef):  # attributes of a state dict and of a tensor say nothing about numbers
        raise machine.refuse(f'opcode BUILD of {kind_of(target)}')


def _target(machine: Machine) -> Any:
    if len(machine.stack) <= (machine.marks[-1] if machine.marks else 0):
        raise machine.refuse(f'opcode {machine.opcode} finds too few values', 'the file is cut short or damaged')
    return machine.stack[-1]


def _set_items(machine: Machine, items: list) -> None:
    target = _target(machine)
    _put(machine, target.items if type(target) is Inert else machine.top(dict), items)


def _put(machine: Machine, target: dict, items: list) -> None:
    if len(items) % 2:
        raise machine.refuse(f'opcode {machine.opcode} with {len(items)} keys and values')
    for key, value in zip(items[0::2], items[1::2], strict=True):
        name = _word(machine, key) if type(key) is Span else key
        try:
            if name in target:
                raise machine.refuse(f'key {name!r} for the second time')
        except TypeError:
            raise machine.refuse(f'a key that is {kind_of(key)}') from None
        target[name] = value


def _word(machine: Machine, span: Span) -> str | bytes:
    try:
        raw = decode(machine.data, span)
        return raw.decode('utf-8') if span.kind == 'str' else raw
    except ValueError as error:
        raise machine.refuse(f'a key of broken text: {error}') from None


def _add(machine: Machine, values: list) -> None:
    target = _target(machine)
    (target.values if type(target) is Inert else machine.top(list)).extend(values)


def _float_line(machine: Machine) -> None:
    text = machine.text(machine.take_line())
    try:
        machine.push(float(text))
    except ValueError:
        raise machine.refuse(f'opcode FLOAT with {text!r}') from None


def _unicode_line(machine: Machine) -> None:
    line = machine.take_line(machine.size)
    if b'\\' in machine.data[line.start:line.stop]:
        raise machine.refuse('opcode UNICODE with an escape', 'save the file again with a newer torch')
    machine.push(line._replace(kind='str'))


def _long_line(machine: Machine) -> None:
    line = machine.take_line()
    ends = machine.data[line.stop - 1:line.stop] == b'L'
    machine.push(int(machine.digits(line._replace(stop=line.stop - ends))))


def _long(machine: Machine, layout: str) -> None:
    count = machine.take_number(layout)
    if count > _MAX_NUMBER:
        raise machine.refuse(f'a number of {count} bytes')
    machine.push(int.from_bytes(machine.take_bytes(count), 'little', signed=True))


def _dict(machine: Machine, items: list) -> None:
    found: dict = {}
    _put(machine, found, items)
    machine.push_unfinished(found)


OPCODES: dict[str, Callable[[Any], Any]] = {
    **PLAIN_OPCODES,
    'ADDITEMS': lambda machine: _add(machine, machine.take_to_mark()),
    'APPEND': lambda machine: _add(machine, machine.take()),
    'APPENDS': lambda machine: _add(machine, machine.take_to_mark()),
    'BINFLOAT': lambda machine: machine.push(machine.take_number('>d')),
    'BINPERSID': _persistent,
    'BUILD': _build,
    'DICT': lambda machine: _dict(machine, machine.take_to_mark()),
    'EMPTY_DICT': lambda machine: machine.push_unfinished({}),
    'EMPTY_SET': lambda machine: machine.push(_set_of(machine)),
    'FLOAT': _float_line,
    'FROZENSET': lambda machine: machine.push(_set_of(machine, machine.take_to_mark())),
    'GLOBAL': lambda machine: _global(machine, machine.take_line(), machine.take_line()),
    'INST': _instance,
    'LONG': _long_line,
    'LONG4': lambda machine: _long(machine, '<i'),
    'NEWOBJ': lambda machine: _call(machine, *machine.take(2)),
    'NEWOBJ_EX': _new_with_keywords,
    'OBJ': _call_from_mark,
    'POP': lambda machine: machine.take(),
    'POP_MARK': lambda machine: machine.take_to_mark(),
    'REDUCE': lambda machine: _call(machine, *machine.take(2)),
    'SETITEM': lambda machine: _set_items(machine, machine.take(2)),
    'SETITEMS': lambda machine: _set_items(machine, machine.take_to_mark()),
    'STACK_GLOBAL': lambda machine: _global(machine, *machine.take(2)),
    'UNICODE': _unicode_line,
}

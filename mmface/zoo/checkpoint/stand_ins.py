"""What stands in a checkpoint for what its pickle names."""
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

#: Types of storages by the name of their class.
DTYPES = {
    'DoubleStorage': torch.float64,
    'FloatStorage': torch.float32,
    'HalfStorage': torch.float16,
    'BFloat16Storage': torch.bfloat16,
    'LongStorage': torch.int64,
    'IntStorage': torch.int32,
    'ShortStorage': torch.int16,
    'CharStorage': torch.int8,
    'ByteStorage': torch.uint8,
    'BoolStorage': torch.bool,
    'UntypedStorage': torch.uint8,
}


class StorageRef(NamedTuple):
    """Numbers that lie elsewhere in the file: ``length`` of them, under ``key``."""
    key: str
    dtype: torch.dtype
    length: int


class TensorRef(NamedTuple):
    """A tensor over a storage, not yet made. ``dtype`` is None where it is the storage's."""
    storage: StorageRef
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype | None = None


@dataclass(eq=False)
class Inert:
    """An object of a class, or the result of a function, that was neither imported nor called.

    Args:
        name: its full name, as the file has it: ``'argparse.Namespace'``.
        args: what it would have been called with.
        state: what would have been put into it: the attributes, as a rule.
        items: keys and values, where it is a kind of mapping.
        values: members, where it is a kind of list or set.
    """
    name: str
    args: tuple = ()
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)

    def __repr__(self) -> str:
        return f'<{self.name}, not executed>'

"""Stand-ins to tensors and plain values."""
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mmface.utils.data_format_error import DataFormatError
from mmface.utils.pickles.values import Global, Span, decode

from .stand_ins import Inert, StorageRef, TensorRef

_DEPTH = 100


class CheckpointValues:
    """Makes each tensor, text and container once, however often the file refers to it.

    Args:
        path: the file, for messages.
        data: the pickle.
        read_storage: the bytes of a storage by its key.
    """

    def __init__(self, path: Path, data: Any, read_storage: Callable[[str], bytes]) -> None:
        self.path, self.data, self.read_storage = path, data, read_storage
        self.made: dict[int, Any] = {}
        self.kept: list[Any] = []  # keeps the keys of `made` alive: the number of an object that is gone may be given to another
        self.texts: dict[Span, str | bytes] = {}
        self.storages: dict[str, Tensor] = {}
        self.makers: dict[type, Callable[[Any, str, int], Any]] = {
            dict: self._dict, list: self._list, tuple: self._tuple, Inert: self._inert, TensorRef: self._tensor, Span: self._text,
            StorageRef: self._storage_value, Global: lambda value, *_: Inert(value.name),
        }  # yapf: disable

    def make(self, value: Any, where: str = '', depth: int = 0) -> Any:
        """The value that a stand-in stands for; numbers, truth values and None as they are.

        Raises:
            DataFormatError: a tensor that its storage does not hold, broken text, or values nested too deep.
        """
        maker = self.makers.get(type(value))
        if maker is None:
            return value
        if depth > _DEPTH:
            raise DataFormatError(self.path, where[:200], f'nested deeper than {_DEPTH}', 'made to deceive')
        if id(value) not in self.made:
            self.kept.append(value)
            self.made[id(value)] = maker(value, where, depth + 1)
        return self.made[id(value)]

    def _dict(self, value: dict, where: str, depth: int) -> dict:
        return {self.make(key, where, depth): self.make(item, f'{where}[{key!r}]', depth) for key, item in value.items()}

    def _list(self, value: list, where: str, depth: int) -> list:
        return [self.make(item, f'{where}[{at}]', depth) for at, item in enumerate(value)]

    def _tuple(self, value: tuple, where: str, depth: int) -> tuple:
        return tuple(self._list(list(value), where, depth))

    def _inert(self, value: Inert, where: str, depth: int) -> Inert:
        found = self.made[id(value)] = Inert(value.name)  # before its content, which may refer to it
        found.args = self._tuple(value.args, where, depth)
        found.state = self.make(value.state, where, depth)
        found.items = self._dict(value.items, where, depth)
        found.values = self._list(value.values, where, depth)
        return found

    def _text(self, span: Span, where: str, _: int) -> str | bytes:
        if span not in self.texts:
            try:
                raw = decode(self.data, span)
                self.texts[span] = raw.decode('utf-8') if span.kind == 'str' else raw
            except ValueError as error:
                raise DataFormatError(self.path, where, f'broken text: {error}') from None
        return self.texts[span]

    def _storage(self, ref: StorageRef, where: str) -> Tensor:
        if ref.key not in self.storages:
            raw = self.read_storage(ref.key)
            if len(raw) != ref.length * ref.dtype.itemsize:
                raise DataFormatError(self.path, where, f'{ref.length} numbers of {ref.dtype}, but {len(raw)} bytes', 'the file is damaged')
            self.storages[ref.key] = torch.frombuffer(bytearray(raw), dtype=ref.dtype) if raw else torch.empty(0, dtype=ref.dtype)
        return self.storages[ref.key]

    def _storage_value(self, ref: StorageRef, where: str, _: int) -> Tensor:
        return self._storage(ref, where)

    def _tensor(self, ref: TensorRef, where: str, _: int) -> Tensor:
        storage = self._storage(ref.storage, where)
        if ref.dtype is not None and ref.dtype != storage.dtype:
            try:
                storage = storage.view(ref.dtype)
            except RuntimeError as error:
                raise DataFormatError(self.path, where, str(error), 'the file is damaged') from None
        count = math.prod(ref.size)
        last = ref.offset + sum((size - 1) * stride for size, stride in zip(ref.size, ref.stride, strict=False))
        if len(ref.size) != len(ref.stride) or count > len(storage) or (count and last >= len(storage)):
            value = f'a tensor of {list(ref.size)} with the steps {list(ref.stride)} from {ref.offset} on, of {len(storage)} numbers'
            raise DataFormatError(self.path, where, value, 'the file is damaged, or made to deceive')
        return storage.as_strided(ref.size, ref.stride, ref.offset) if count else storage.new_empty(ref.size)

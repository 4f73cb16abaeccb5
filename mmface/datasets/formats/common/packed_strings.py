"""Millions of file names in the memory that they need."""
import os
from array import array
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np


class PackedStrings(Sequence[str]):
    """N strings, as paths are encoded, in one buffer.

    A list of as many would take several times the memory, and again in each worker: the reference counts of its strings change as soon
    as they are looked at, so that pages shared after a fork are copied. Equal to any sequence of the same strings.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        data, ends = bytearray(), array('q', [0])
        for string in strings:
            data += os.fsencode(string)
            ends.append(len(data))
        self._data, self._ends = bytes(data), np.array(ends, np.int64)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> str:
        ...

    @overload
    def __getitem__(self, index: slice) -> list[str]:
        ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[at] for at in range(len(self))[index]]
        at = range(len(self))[index]
        return os.fsdecode(self._data[self._ends[at]:self._ends[at + 1]])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

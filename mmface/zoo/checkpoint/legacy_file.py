"""The file that ``torch.save`` wrote before torch 1.6, and still does on request: pickles, then storages, one after the other."""
import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mmface.utils.data_format_error import DataFormatError
from mmface.utils.pickles.values import Span, decode

from .machine import CheckpointMachine
from .opcodes import OPCODES

_MAGIC, _PROTOCOL = 0x1950a86a20f9469cfc6c, 1001  # numbers that torch chose
_CUT = 'the file is cut short or damaged: copy it again'


class LegacyFile:
    """Magic number, protocol, system, data, and the keys of the storages that follow, each after its length.

    Args:
        path: the file.
        data: its bytes, a memory map.

    Attributes:
        found: what the pickle holds, as stand-ins.

    Raises:
        DataFormatError: a damaged file, with the offset.
    """

    def __init__(self, path: Path, data: Any) -> None:
        self.path, self.data, self.at = path, data, 0
        magic, _ = self._pickle('magic number, ')
        if magic != _MAGIC:
            raise DataFormatError(path, value='a bare pickle', hint='expected what torch.save writes')
        protocol, _ = self._pickle('protocol, ')
        if protocol != _PROTOCOL:
            raise DataFormatError(path, value=f'protocol {protocol!r}'[:64], hint=f'expected {_PROTOCOL}')
        self._pickle('system, ')
        self.found, machine = self._pickle('data, ')
        keys, _ = self._pickle('storage keys, ')
        if type(keys) is not list or not all(type(key) is Span for key in keys):
            raise DataFormatError(path, value='no list of storages behind the data', hint=_CUT)
        self.spans: dict[str, tuple[int, int]] = {}
        for key in keys:
            self._find_storage(decode(data, key).decode('utf-8', 'replace'), machine)

    def _pickle(self, inside: str) -> tuple[Any, CheckpointMachine]:
        machine = CheckpointMachine(self.data, OPCODES, self.path, inside, bytes_per_opcode=64, start=self.at, more=True)
        found = machine.run()
        self.at = machine.at
        return found, machine

    def _find_storage(self, key: str, machine: CheckpointMachine) -> None:
        if key not in machine.storages or self.at + 8 > len(self.data):
            raise DataFormatError(self.path, f'offset {self.at}', f'storage {key[:64]!r}', _CUT)
        storage = machine.storages[key]
        count, = struct.unpack('<q', self.data[self.at:self.at + 8])
        start, stop = self.at + 8, self.at + 8 + storage.length * storage.dtype.itemsize
        if count != storage.length or stop > len(self.data):
            value = f'storage {key[:64]!r} of {count} numbers; the pickle says {storage.length}, {len(self.data) - start} bytes are left'
            raise DataFormatError(self.path, f'offset {self.at}', value, _CUT)
        self.spans[key], self.at = (start, stop), stop

    def read_storage(self, key: str) -> bytes:
        """The bytes of a storage."""
        if key not in self.spans:
            raise DataFormatError(self.path, value=f'storage {key[:64]!r} is not in the file', hint=_CUT)
        start, stop = self.spans[key]
        return self.data[start:stop]


@contextmanager
def open_legacy_file(path: Path) -> Iterator[LegacyFile]:
    """Opens a file of the old form.

    Raises:
        DataFormatError: see :class:`LegacyFile`.
    """
    with path.open('rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield LegacyFile(path, data)

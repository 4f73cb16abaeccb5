"""The pickle machine that remembers which storages a checkpoint refers to."""
from typing import Any

from mmface.utils.pickles.machine import PickleMachine

from .stand_ins import StorageRef


class CheckpointMachine(PickleMachine):
    """See :class:`~mmface.utils.pickles.machine.PickleMachine`.

    Attributes:
        storages: those that the pickle names, by key.
    """
    most_unfinished = 1 << 16  # a mapping of many mappings has them all open; how deep values are is seen where they are made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.storages: dict[str, StorageRef] = {}

    def add_storage(self, storage: StorageRef) -> StorageRef:
        """Remembers a storage.

        Raises:
            DataFormatError: where the same key had another type or number.
        """
        if self.storages.setdefault(storage.key, storage) != storage:
            raise self.refuse(f'storage {storage.key!r} as two different ones', 'the file is damaged, or made to deceive')
        return storage

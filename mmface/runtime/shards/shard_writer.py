"""The storage that ``torch.distributed.checkpoint`` writes shards to."""
import dataclasses
import os
from pathlib import Path
from typing import Any, BinaryIO, cast

from torch import Tensor
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.planner import SavePlan, SavePlanner, WriteItem
from torch.distributed.checkpoint.storage import StorageWriter, WriteResult
from torch.futures import Future

from .safetensors_stream import Stream, write_safetensors
from .shard_index import INDEX, Part, ShardIndex, StoredFile, StoredTensor


class ShardWriter(StorageWriter):
    """A folder with a safetensors file of each rank that has rows, and ``index.json``, synced one by one, the index last.

    The library's own format keeps its index as a pickle, which runs code when it is read, and its safetensors format has none, so that
    a missing file goes unnoticed; both hold a file in memory as often as twice.

    Args:
        folder: made where it does not exist; must be seen by all ranks.
        id: of the folder, see :class:`ShardIndex`.
    """

    def __init__(self, folder: Path, id: str) -> None:
        self.folder, self.id = folder, id

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        pass

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        self.ranks = len(plans)
        return [dataclasses.replace(plan, storage_data=f'rank_{rank:05}.safetensors') for rank, plan in enumerate(plans)]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        done: Future[list[WriteResult]] = Future()
        results = []
        if plan.items:
            tensors = {item.index.fqn: Stream.of(cast('Tensor', planner.resolve_data(item))) for item in plan.items}
            with open(self.folder / plan.storage_data, 'wb') as file:
                stored = StoredFile(*write_safetensors(file, tensors))
                _sync(file)
            results = [WriteResult(item.index, stored.bytes, (_part(plan.storage_data, item), stored)) for item in plan.items]
        done.set_result(results)
        return done

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        written = [(result.index.fqn, *result.storage_data) for of_rank in results for result in of_rank]
        tensors = {}
        for name, found in metadata.state_dict_metadata.items():
            parts = sorted((part for of, part, _ in written if of == name), key=lambda part: part.start)
            tensors[name] = StoredTensor(str(found.properties.dtype).removeprefix('torch.'), list(found.size), parts)
        index = ShardIndex(self.id, self.ranks, tensors, {part.file: stored for _, part, stored in written})
        index.check_files(self.folder)  # a rank on another machine may have written to a disk of its own
        with open(self.folder / INDEX, 'wb') as file:
            file.write(index.text().encode())
            _sync(file)
        sync_folder(self.folder)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        return '://' not in str(checkpoint_id)


def _part(file: str, item: WriteItem) -> Part:
    start, rows = item.tensor_data.chunk.offsets[0], item.tensor_data.chunk.sizes[0]
    return Part(file, start, start + rows)


def sync_folder(folder: Path) -> None:
    """Brings the names in ``folder`` to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())

"""The storage that ``torch.distributed.checkpoint`` reads shards from."""
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from torch import Size
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, ReadItem
from torch.distributed.checkpoint.storage import StorageReader
from torch.futures import Future

from .shard_index import ShardIndex, StoredTensor


class ShardReader(StorageReader):
    """Reads a folder of :class:`ShardWriter`: of each file only the rows that are asked for; nothing in it is ever executed.

    Args:
        folder: to read from.
        index: of the folder, checked.
    """

    def __init__(self, folder: Path, index: ShardIndex) -> None:
        self.folder, self.index = folder, index

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        pass

    def read_metadata(self) -> Metadata:
        return Metadata({name: _metadata(tensor) for name, tensor in self.index.tensors.items()},
                        storage_data={
                            MetadataIndex(name, chunk.offsets): part.file
                            for name, tensor in self.index.tensors.items()
                            for part, chunk in zip(tensor.parts, _chunks(tensor), strict=True)
                        })

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self.files = metadata.storage_data

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        from safetensors import safe_open
        by_file: dict[str, list[ReadItem]] = defaultdict(list)
        for item in plan.items:
            by_file[self.files[item.storage_index]].append(item)
        for name, items in by_file.items():
            with safe_open(self.folder / name, 'pt') as file:
                for item in items:
                    start = item.storage_offsets[0]
                    planner.resolve_tensor(item).copy_(file.get_slice(item.storage_index.fqn)[start:start + item.lengths[0]])
        done: Future[None] = Future()
        done.set_result(None)
        return done

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        return '://' not in str(checkpoint_id)


def _metadata(tensor: StoredTensor) -> TensorStorageMetadata:
    return TensorStorageMetadata(TensorProperties(dtype=tensor.torch_dtype), Size(tensor.shape), _chunks(tensor))


def _chunks(tensor: StoredTensor) -> list[ChunkStorageMetadata]:
    rest = tensor.shape[1:]
    return [ChunkStorageMetadata(Size((p.start, *(0 for _ in rest))), Size((p.stop - p.start, *rest))) for p in tensor.parts]

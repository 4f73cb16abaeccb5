"""Which rank writes and reads what, for ``torch.distributed.checkpoint``: its own rows of every tensor.

Its planners know ``DTensor``, whose rows are those of ``torch.chunk``; here the rows of a class stay together, so they are planned from
:class:`Rows`. All else, resharding included, is the library's.
"""
from typing import cast

import torch
from torch import Tensor
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, TensorProperties, TensorStorageMetadata
from torch.distributed.checkpoint.planner import (
    LoadPlan,
    ReadItem,
    SavePlan,
    TensorWriteData,
    WriteItem,
    WriteItemType,
)
from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list

from .rows import Rows


class RowsSavePlanner(DefaultSavePlanner):
    """Plans the writing of a ``dict[str, Rows]``."""
    state_dict: dict[str, Rows]

    def __init__(self) -> None:
        super().__init__(flatten_state_dict=False, flatten_sharded_tensors=False)

    def create_local_plan(self) -> SavePlan:
        self.plan = SavePlan([_write_item(name, rows) for name, rows in self.state_dict.items() if rows.written])
        return self.plan

    def resolve_data(self, write_item: WriteItem) -> Tensor:
        return self.state_dict[write_item.index.fqn].local.detach()


class RowsLoadPlanner(DefaultLoadPlanner):
    """Plans the reading into a ``dict[str, Rows]``, in place, whoever wrote the rows."""
    state_dict: dict[str, Rows]
    metadata: Metadata

    def set_up_planner(self, state_dict: dict[str, Rows], metadata: Metadata | None = None, is_coordinator: bool = False) -> None:
        # The parent takes everything in it for a container or a tensor of its own kinds.
        self.state_dict, self.metadata, self.is_coordinator = state_dict, cast('Metadata', metadata), is_coordinator

    def create_local_plan(self) -> LoadPlan:
        stored = self.metadata.state_dict_metadata
        return LoadPlan([
            item for name, rows in self.state_dict.items() if len(rows.local)
            for item in create_read_items_for_chunk_list(name, cast('TensorStorageMetadata', stored[name]), [rows.chunk])
        ])

    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        local = self.state_dict[read_item.dest_index.fqn].local.detach()
        return local.narrow(0, read_item.dest_offsets[0], read_item.lengths[0])


def _write_item(name: str, rows: Rows) -> WriteItem:
    properties = TensorProperties(dtype=rows.local.dtype)
    return WriteItem(
        MetadataIndex(name, rows.chunk.offsets),
        WriteItemType.SHARD,
        tensor_data=TensorWriteData(rows.chunk, properties, torch.Size(rows.shape)))

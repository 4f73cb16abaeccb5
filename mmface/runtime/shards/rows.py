"""What a shard folder is written from and read into."""
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributed.checkpoint.metadata import ChunkStorageMetadata

from mmface.models.heads.class_shard import ShardSpec


@dataclass(frozen=True)
class Rows:
    """This rank's rows ``local`` of a tensor that is split over the ranks along dim 0, and which they are."""
    local: Tensor
    spec: ShardSpec

    @property
    def shape(self) -> torch.Size:
        """Of the whole tensor."""
        return torch.Size((self.spec.size, *self.local.shape[1:]))

    @property
    def chunk(self) -> ChunkStorageMetadata:
        """Where the rows lie in it, in the words of ``torch.distributed.checkpoint``."""
        return ChunkStorageMetadata(torch.Size((self.spec.start, *(0 for _ in self.local.shape[1:]))), self.local.shape)

    @property
    def written(self) -> bool:
        """Whether there is anything to write; of an empty tensor, one rank's nothing stands for all."""
        return len(self.local) > 0 or self.spec.size == 0

"""A module that holds its part of tensors which are spread over the ranks."""
from typing import Any

from mmengine.model import BaseModule

from .class_shard import ShardSpec


class ShardedModule(BaseModule):
    """Keeps the tensors of which each rank has its own rows out of the state dict, which is thus the same on all ranks.

    A state dict that has such a tensor whole can be loaded: each rank takes its rows.

    Attributes:
        shard_spec: which rows of the whole this rank holds, by name of parameter or buffer.
    """

    def __init__(self, init_cfg: dict | None = None) -> None:
        super().__init__(init_cfg)
        self.shard_spec: dict[str, ShardSpec] = {}

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name in self.shard_spec:
            destination.pop(prefix + name, None)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict, strict: bool, missing_keys: list[str],
                              unexpected_keys: list[str], error_msgs: list[str]) -> None:
        absent = [prefix + name for name in self.shard_spec if prefix + name not in state_dict]
        for name, spec in self.shard_spec.items():
            whole = state_dict.get(prefix + name)
            if whole is not None and len(whole) == spec.size:
                state_dict[prefix + name] = spec.slice(whole)
            elif whole is not None:
                error_msgs.append(f'{prefix + name} has {len(whole)} rows where the whole of this sharded tensor has {spec.size}')
                del state_dict[prefix + name]
                absent.append(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        missing_keys[:] = [key for key in missing_keys if key not in absent]

"""Logged scalars of the whole batch."""
from typing import Any

import torch
from mmengine.dist import all_reduce
from mmengine.hooks import RuntimeInfoHook
from mmengine.runner import Runner

from mmface.registry import HOOKS


@HOOKS.register_module()
class FaceRuntimeInfoHook(RuntimeInfoHook):
    """:class:`mmengine.hooks.RuntimeInfoHook` whose losses and statistics are means over all ranks; MMEngine's are rank 0's own."""

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: dict | None = None) -> None:
        if outputs:
            values = torch.stack([torch.as_tensor(value).detach().double() for value in outputs.values()]).cpu()  # one wait for the device
            all_reduce(values, op='mean')
            outputs = dict(zip(outputs, values, strict=True))
        super().after_train_iter(runner, batch_idx, data_batch, outputs)

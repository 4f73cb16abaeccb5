"""Logged scalars of the whole batch, without making the device wait in each iteration."""
import math
from typing import Any

import torch
from mmengine.dist import all_reduce
from mmengine.hooks import LoggerHook, RuntimeInfoHook
from mmengine.runner import Runner

from mmface.registry import HOOKS


@HOOKS.register_module()
class FaceRuntimeInfoHook(RuntimeInfoHook):
    """:class:`mmengine.hooks.RuntimeInfoHook` whose losses and statistics are means over all ranks, and cost one wait in many iterations.

    MMEngine's are rank 0's own, and it fetches each of them from the device in each iteration. Here they stay there until they are wanted:
    when a ``LoggerHook`` writes, before a validation, at the end of an epoch, and before a checkpoint of ``AtomicCheckpointHook``. The
    history in the message hub is then the same, an entry an iteration.

    Args:
        interval: iterations after which they are fetched at the latest; by default when the ``LoggerHook``s of the run write. Set it to 1
            for a hook of your own that reads ``train/loss`` from the message hub in each iteration.
    """

    def __init__(self, interval: int | None = None) -> None:
        self.interval = interval
        self._pending: list[tuple[str, torch.Tensor]] = []

    def before_train(self, runner: Runner) -> None:
        super().before_train(runner)
        self._every = self.interval or math.gcd(*(hook.interval for hook in runner.hooks if isinstance(hook, LoggerHook))) or 1

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: dict | None = None) -> None:
        self._pending += [(name, torch.as_tensor(value).detach()) for name, value in (outputs or {}).items()]
        if self.every_n_inner_iters(batch_idx, self._every) or self.end_of_epoch(runner.train_dataloader, batch_idx):
            self.flush(runner)

    def after_train_epoch(self, runner: Runner) -> None:
        self.flush(runner)

    def before_val(self, runner: Runner) -> None:
        self.flush(runner)
        super().before_val(runner)

    def flush(self, runner: Runner) -> None:
        """Moves what is pending into the message hub. All ranks must call it at the same time."""
        if not self._pending:
            return
        names, tensors = zip(*self._pending, strict=True)
        self._pending = []
        values = torch.stack([tensor.double() for tensor in tensors]).cpu()
        all_reduce(values, op='mean')
        for name, value in zip(names, values.tolist(), strict=True):
            runner.message_hub.update_scalar(f'train/{name}', value)

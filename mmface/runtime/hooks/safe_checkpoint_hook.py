"""Checkpoints that load without running code."""
from typing import Any

import torch
from mmengine.hooks import Hook
from mmengine.logging import HistoryBuffer
from mmengine.runner import Runner

from mmface.registry import HOOKS
from mmface.runtime.bounded_history import BoundedHistory
from mmface.runtime.plain_data import plain

_WEIGHTS = ('state_dict', 'ema_state_dict')  # tensors only, with metadata attached to the dict: left as they are


@HOOKS.register_module()
class SafeCheckpointHook(Hook):
    """Writes checkpoints that ``torch.load(weights_only=True)``, the default of torch, reads, and reads them back on stock MMEngine.

    MMEngine pickles its history of logged scalars with the methods of its class. Here each becomes two tensors, and NumPy values Python's;
    anything else that is not plain data (in a data set's meta information, say) is saved as text, with one warning. Put it after every
    hook that writes to a checkpoint (the priority is the lowest there is).

    Args:
        history: entries to keep of each logged scalar, in memory too (:class:`BoundedHistory`): MMEngine keeps a million, copies them all
            every iteration and saves them in every checkpoint.

    Raises:
        ValueError: when a training starts whose checkpoints would lack a sharded head's prototypes.
    """

    priority = 'LOWEST'

    def __init__(self, history: int = 10_000) -> None:
        self.history = history

    def before_train(self, runner: Runner) -> None:
        if any(getattr(module, 'shard_spec', None) and not module.shards_are_saved for module in runner.model.modules()):
            raise ValueError('the head is sharded, and no hook saves the shards: the checkpoints would have no prototypes. Use '
                             "default_hooks=dict(checkpoint=dict(type='AtomicCheckpointHook', ...))")

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: dict | None = None) -> None:
        scalars = runner.message_hub.log_scalars
        for name, buffer in scalars.items():
            if type(buffer) is HistoryBuffer:
                scalars[name] = BoundedHistory(*buffer.data, max_length=self.history)

    def before_save_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        hub = checkpoint['message_hub']
        scalars = {name: [buffer[-self.history:] for buffer in history.data] for name, history in hub['log_scalars'].items()}
        hub['log_scalars'] = {
            name: dict(values=torch.tensor(values), counts=torch.tensor(counts))
            for name, (values, counts) in scalars.items()
        }
        replaced: list[str] = []
        for key in checkpoint.keys() - set(_WEIGHTS):
            checkpoint[key] = plain(checkpoint[key], replaced, f'checkpoint[{key!r}]')
        if replaced:  # MMEngine's logger shows a repeated warning once
            runner.logger.warning(f'not plain data, saved as text: {", ".join(replaced)}')

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        scalars = checkpoint.get('message_hub', {}).get('log_scalars', {})
        for name, saved in scalars.items():
            if isinstance(saved, dict):
                scalars[name] = BoundedHistory(saved['values'].cpu().numpy(), saved['counts'].cpu().numpy(), self.history)

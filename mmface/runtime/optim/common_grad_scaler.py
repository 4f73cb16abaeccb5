"""A scaler of losses that decides for all ranks."""
import torch
from torch.optim import Optimizer

from mmface.functional.collectives import sum_over_ranks


class CommonGradScaler(torch.amp.GradScaler):
    """:class:`torch.amp.GradScaler` that skips a step on every rank where the gradients of one overflow.

    Ranks with parameters of their own would otherwise drift apart, in their steps and in their scales.
    """

    def unscale_(self, optimizer: Optimizer) -> None:
        super().unscale_(optimizer)
        if self.is_enabled() and self._scale is not None:
            found = self._per_optimizer_states[id(optimizer)]['found_inf_per_device']
            here = torch.stack([torch.zeros_like(self._scale), *(flag.to(self._scale) for flag in found.values())]).sum()
            found.clear()
            found[self._scale.device] = sum_over_ranks(here)

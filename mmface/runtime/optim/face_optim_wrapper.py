"""An optimiser wrapper that can be left in the middle of a gradient accumulation."""
from typing import Any

import torch
from mmengine.optim import OptimWrapper
from torch import nn

from mmface.registry import OPTIM_WRAPPERS
from mmface.runtime.optim.drawn_rows import drawn_rows


@OPTIM_WRAPPERS.register_module()
class FaceOptimWrapper(OptimWrapper):
    """:class:`mmengine.optim.OptimWrapper` whose state includes the gradients that an unfinished accumulation has gathered.

    MMEngine drops them: a run resumed between two updates then differs from an uninterrupted one. The state holds them under ``grads``,
    position of the parameter in the optimiser's groups -> tensor, and not at all right after an update. Arguments are the parent's.
    """

    def step(self, **kwargs: Any) -> None:
        """The parent's, on the drawn rows alone where a gradient is row-sparse (:class:`~mmface.models.SampledEngine`)."""
        with drawn_rows(self.optimizer):
            super().step(**kwargs)

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        grads = {i: p.grad for i, p in enumerate(self._parameters()) if p.grad is not None}
        return {**state, 'grads': grads} if grads else state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = dict(state_dict)
        grads = state.pop('grads', {})
        super().load_state_dict(state)
        for i, parameter in enumerate(self._parameters()):
            parameter.grad = grads[i].to(parameter, copy=True) if i in grads else None

    def initialize_count_status(self, model: nn.Module, init_counts: int, max_counts: int) -> None:
        """Sets the counter of the accumulation; the parent's warning that gradients were lost comes only where they were."""
        kept = any(p.grad is not None for p in self._parameters())
        super().initialize_count_status(model, 0 if kept else init_counts, max_counts)
        self._inner_count = init_counts

    def _parameters(self) -> list[torch.Tensor]:
        return [p for group in self.optimizer.param_groups for p in group['params']]

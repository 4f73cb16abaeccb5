"""An optimiser wrapper that can be left in the middle of a gradient accumulation, and that knows shards."""
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from mmengine.optim import OptimWrapper
from torch import nn

from mmface.models.heads.class_shard import sharded_tensors
from mmface.registry import OPTIM_WRAPPERS
from mmface.runtime.optim.clip_norm import clip_norm
from mmface.runtime.optim.drawn_rows import drawn_rows


@OPTIM_WRAPPERS.register_module()
class FaceOptimWrapper(OptimWrapper):
    """:class:`mmengine.optim.OptimWrapper` whose state includes the gradients that an unfinished accumulation has gathered.

    MMEngine drops them: a run resumed between two updates then differs from an uninterrupted one. The state holds them under ``grads``,
    position of the parameter in the optimiser's groups -> tensor, and not at all right after an update. Where the model of its
    :meth:`optim_context` has a sharded head, the norm that it clips is that of the whole model. Arguments are the parent's.
    """
    _sharded: frozenset[torch.Tensor] = frozenset()

    @contextmanager
    def optim_context(self, model: nn.Module) -> Iterator[None]:
        """The parent's, which sees the model that is stepped."""
        self._sharded = frozenset(tensor for tensor, _ in sharded_tensors(model).values())
        with super().optim_context(model):
            yield

    def step(self, **kwargs: Any) -> None:
        """The parent's, on the drawn rows alone where a gradient is row-sparse (:class:`~mmface.models.SampledEngine`)."""
        with drawn_rows(self.optimizer) as stand_ins:
            self._clip(stand_ins)
            self.optimizer.step(**kwargs)

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

    def _clip(self, stand_ins: dict[torch.Tensor, torch.Tensor]) -> None:
        """Clips the gradients, if that is asked for; on every rank of a sharded model, whether it has gradients or not."""
        if not self.clip_grad_kwargs:
            return
        if self.clip_func is not nn.utils.clip_grad_norm_:
            self._clip_grad()
            return
        sharded = {stand_ins.get(p, p) for p in self._sharded}
        norm = clip_norm([p for p in self._parameters() if p.requires_grad], sharded, **self.clip_grad_kwargs)
        self.message_hub.update_scalar(f'train/{self.grad_name}', float(norm))

    def _parameters(self) -> list[torch.Tensor]:
        return [p for group in self.optimizer.param_groups for p in group['params']]

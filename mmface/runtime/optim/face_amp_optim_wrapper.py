"""Automatic mixed precision on any device."""
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from mmface.registry import OPTIM_WRAPPERS
from mmface.runtime.optim.common_grad_scaler import CommonGradScaler
from mmface.runtime.optim.drawn_rows import drawn_rows
from mmface.runtime.optim.face_optim_wrapper import FaceOptimWrapper

DTYPES = {'bfloat16': torch.bfloat16, 'float16': torch.float16}


@OPTIM_WRAPPERS.register_module()
class FaceAmpOptimWrapper(FaceOptimWrapper):
    """:class:`FaceOptimWrapper` under autocast; MMEngine's own ``AmpOptimWrapper`` refuses to run without a GPU.

    Args:
        dtype: ``'bfloat16'`` has the range of float32 and needs no loss scaling; ``'float16'`` scales the loss with
            :class:`torch.amp.GradScaler`, with one decision for all ranks. GPUs before Ampere lack the first.
        loss_scale: ``'dynamic'``, the initial scale as a number, or a dict of the scaler's arguments. For ``'float16'`` only.
        **kwargs: of the parent.

    Raises:
        ValueError: for another ``dtype``.
    """

    def __init__(self, dtype: str = 'bfloat16', loss_scale: str | float | dict = 'dynamic', **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if dtype not in DTYPES:
            raise ValueError(f'dtype must be one of {sorted(DTYPES)}, got {dtype!r}')
        options = loss_scale if isinstance(loss_scale, dict) else {} if loss_scale == 'dynamic' else dict(init_scale=float(loss_scale))
        self.dtype = DTYPES[dtype]
        self.device_type = self._parameters()[0].device.type
        # The scaler is to leave out a step that overflows: torch 2.14's fused SGD does so itself, and if it is the first then goes on with
        # momentum that nobody has written.
        self.optimizer._step_supports_amp_scaling = False
        self.loss_scaler = CommonGradScaler(self.device_type, enabled=self.dtype is torch.float16, **options)

    def backward(self, loss: torch.Tensor, **kwargs: Any) -> None:
        self.loss_scaler.scale(loss).backward(**kwargs)
        self._inner_count += 1

    def step(self, **kwargs: Any) -> None:
        with drawn_rows(self.optimizer) as stand_ins:
            if self.clip_grad_kwargs:
                self.loss_scaler.unscale_(self.optimizer)
                self._clip(stand_ins)
            self.loss_scaler.step(self.optimizer, **kwargs)
        self.loss_scaler.update()

    @contextmanager
    def optim_context(self, model: nn.Module) -> Iterator[None]:
        with super().optim_context(model), torch.autocast(self.device_type, dtype=self.dtype):
            yield

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), 'loss_scaler': self.loss_scaler.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = dict(state_dict)
        self.loss_scaler.load_state_dict(state.pop('loss_scaler', None) or self.loss_scaler.state_dict())
        super().load_state_dict(state)

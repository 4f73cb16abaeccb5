"""What an optimiser keeps and needs for a byte of parameters."""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from mmface.registry import OPTIMIZERS
from mmface.utils.peak_allocated import peak_allocated

SIZE = 2**16


@dataclass(frozen=True)
class OptimizerCost:
    """Copies of the parameters.

    Attributes:
        state: kept from step to step: 0 for plain SGD, 1 with momentum, 2 for Adam.
        temporaries: alive in a step besides; 0 for fused optimisers. As large as all parameters together where an optimiser steps them at
            once (on a GPU most do, unless fused).
    """
    state: float
    temporaries: float


def measure_optimizer(config: Mapping[str, Any]) -> OptimizerCost:
    """Builds the optimiser of ``config`` over a few parameters and makes two steps, on the CPU."""
    parameter = nn.Parameter(torch.zeros(SIZE))
    optimizer = OPTIMIZERS.build({**config, 'params': [parameter]})
    parameter.grad = torch.ones(SIZE)
    optimizer.step()
    kept = sum(value.nbytes for value in optimizer.state[parameter].values() if isinstance(value, torch.Tensor) and value.numel() == SIZE)
    temporaries = peak_allocated(optimizer.step)
    return OptimizerCost(kept / parameter.nbytes, round(temporaries / parameter.nbytes, 1))

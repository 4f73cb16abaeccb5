"""From a config and weights to a network that embeds."""
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmengine.model import BaseModel
from mmengine.registry import DefaultScope
from torch import Tensor

from mmface.registry import MODELS


def build_network(config: Mapping[str, Any],
                  weights: Mapping[str, Tensor] | None = None,
                  where: str | Path | None = None,
                  scope: str = 'mmface') -> BaseModel:
    """The recognizer of a config without its head, on the CPU and in evaluation mode.

    Args:
        config: what stands under ``model`` in a config.
        weights: tensors by name; the head's are left out. None leaves the network as it is drawn.
        where: the file of the weights, for messages.
        scope: the registry in which types without a scope are looked up.

    Raises:
        ValueError: the weights do not fit; names the first three differences.
    """
    with DefaultScope.overwrite_default_scope(scope):
        network = MODELS.build(dict(config, head=None))
    if weights is not None:
        state = backbone_only(weights)
        problems = differences(network.state_dict(), state)
        if problems:
            more = f' and {len(problems) - 3} more' if len(problems) > 3 else ''
            raise ValueError(f'{where} does not fit the config\'s model: {"; ".join(problems[:3])}{more}. Is it another config\'s?')
        network.load_state_dict(state)
    return network.eval()


def backbone_only(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights without the head's, and without the wrapper that a distributed training puts around a model."""
    plain = {name.removeprefix('module.'): tensor for name, tensor in weights.items()}
    return {name: tensor for name, tensor in plain.items() if not name.startswith('head.')}


def differences(own: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> list[str]:
    """In words, what keeps ``state`` from being loaded into a network whose state is ``own``; empty where nothing does."""
    problems = [f'{name} is missing' for name in own.keys() - state.keys()]
    problems += [f'{name} is not in the model' for name in state.keys() - own.keys()]
    problems += [f'{name} is {list(state[name].shape)}, the model has {list(own[name].shape)}'
                 for name in own.keys() & state.keys() if own[name].shape != state[name].shape]  # yapf: disable
    return sorted(problems)

"""Config and checkpoint to a network that embeds."""
from pathlib import Path

import torch
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import init_default_scope
from torch import Tensor

from mmface.registry import MODELS


def init_model(config: str | Path | Config, checkpoint: str | Path | None = None) -> BaseModel:
    """Builds the recognizer of a config without its head, on the CPU and in evaluation mode.

    Without the head a network trained on other identities fits too, and a large one takes no memory.

    Args:
        config: a config, or its file.
        checkpoint: its weights; None leaves them as they are drawn.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the config has no model, or the checkpoint does not fit, or holds more than tensors and plain values.
    """
    config = config if isinstance(config, Config) else Config.fromfile(str(config))
    if 'model' not in config:
        raise ValueError(f'{config.filename}: this config has no `model`')
    init_default_scope(config.get('default_scope', 'mmface'))
    model = MODELS.build(dict(config.model, head=None))
    if checkpoint is not None:
        _load(model, Path(checkpoint))
    return model.eval()


def _load(model: BaseModel, path: Path) -> None:
    state = {key.removeprefix('module.'): value for key, value in _read_weights(path).items()}
    state = {key: value for key, value in state.items() if not key.startswith('head.')}
    own = model.state_dict()
    problems = [f'{key} is missing' for key in own.keys() - state.keys()]
    problems += [f'{key} is not in the model' for key in state.keys() - own.keys()]
    problems += [f'{key} is {list(state[key].shape)}, the model has {list(own[key].shape)}'
                 for key in own.keys() & state.keys() if own[key].shape != state[key].shape]  # yapf: disable
    if problems:
        more = f' and {len(problems) - 3} more' if len(problems) > 3 else ''
        raise ValueError(f'{path} does not fit the config\'s model: {"; ".join(sorted(problems)[:3])}{more}. Is it another config\'s?')
    model.load_state_dict(state)


def _read_weights(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise FileNotFoundError(f'{path}: there is no such checkpoint')
    try:
        checkpoint = torch.load(path, map_location='cpu', weights_only=True)
    except Exception as error:  # a damaged pickle raises anything
        raise ValueError(f'{path}: cannot be loaded as tensors and plain values. Either it is damaged or it holds Python objects, as '
                         "checkpoints of MMEngine's own hook do; those could run any code and are not loaded. Where its origin is beyond "
                         f'doubt, save its "state_dict" alone. ({type(error).__name__})') from error
    weights = checkpoint.get('state_dict', checkpoint) if isinstance(checkpoint, dict) else None
    if not weights or not all(isinstance(value, Tensor) for value in weights.values()):
        raise ValueError(f'{path}: holds neither a "state_dict" nor tensors by name: not a checkpoint')
    return weights

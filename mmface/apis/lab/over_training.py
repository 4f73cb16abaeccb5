"""The same images, looked at by the checkpoints of a training one after the other."""
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from mmengine.config import Config
from mmengine.registry import DefaultScope
from torch import Tensor

from mmface.models import FaceClsHead, FaceRecognizer
from mmface.registry import MODELS
from mmface.utils.progress import Progress
from mmface.zoo.build_network import differences
from mmface.zoo.safe_load import find_weights, safe_load

from .sample_responses import SampleResponses, ask_head
from .training_samples import TrainingSamples

_BATCH = 64


class Snapshot(NamedTuple):
    """A checkpoint's view of the samples.

    Attributes:
        name: of the file.
        iteration: how many steps the training had taken.
        responses: of network, head and loss.
    """
    name: str
    iteration: int
    responses: SampleResponses


def over_training(config: Config, checkpoints: Sequence[Path], samples: TrainingSamples) -> list[Snapshot]:
    """Looks at the samples with every checkpoint: network in evaluation mode, loss in float64, all classes.

    Args:
        config: of the training.
        checkpoints: of this training, with the head.
        samples: see :func:`~mmface.apis.lab.training_samples.draw_training_samples`.

    Returns:
        What each saw, by iteration.

    Raises:
        FileNotFoundError: no such checkpoint.
        ValueError: one that does not fit the config, or that names no iteration; names the file.
    """
    described = config.model.get('head')
    if described is None:
        raise ValueError(f'{config.filename}: its model has no head, so no loss to ask')
    whole = dict(described, engine=dict(type='DenseEngine'), sharded=False)
    with DefaultScope.overwrite_default_scope(config.get('default_scope', 'mmface')):
        model: FaceRecognizer = MODELS.build(dict(config.model, head=whole))
    model.eval().to('cuda' if torch.cuda.is_available() else 'cpu')
    head: FaceClsHead = model.head  # type: ignore[assignment]
    snapshots = []
    with Progress('looking', len(checkpoints), 'checkpoints') as progress:
        for path in checkpoints:
            iteration = _load(model, path)
            try:
                responses = ask_head(head, _embed(model, samples.images), samples.labels.to(head.weight.device))
            except ValueError as error:
                raise ValueError(f'{path}: {error}') from None
            snapshots.append(Snapshot(path.stem, iteration, responses))
            progress.advance()
    return sorted(snapshots, key=lambda snapshot: snapshot.iteration)


def _load(model: FaceRecognizer, path: Path) -> int:
    """Loads network, head and state of the loss, and returns the iteration."""
    loaded = safe_load(path)
    iteration = (loaded.get('meta') or {}).get('iter')
    if type(iteration) is not int:
        raise ValueError(f'{path} does not say after how many iterations it was saved: it is no checkpoint of a training')
    state = {name.removeprefix('module.'): tensor for name, tensor in find_weights(loaded, path).items()}
    if problems := differences(model.state_dict(), state):
        more = f' and {len(problems) - 3} more' if len(problems) > 3 else ''
        raise ValueError(f"{path} does not fit the config's model with its head: {'; '.join(problems[:3])}{more}")
    model.load_state_dict(state)
    return iteration


@torch.no_grad()
def _embed(model: FaceRecognizer, images: Tensor) -> Tensor:
    return torch.cat([model(model.data_preprocessor(dict(inputs=part))['inputs']).double() for part in images.split(_BATCH)])

"""Networks by name."""
from pathlib import Path

import torch
from mmengine.model import BaseModel

from mmface.zoo import ModelEntry, model_index

from .init_model import build_model
from .model_argument import zoo_source


def get_model(name: str,
              pretrained: bool | str | Path = True,
              *,
              device: str | torch.device | None = None,
              accept_unverified: bool = False) -> BaseModel:
    """A network of the zoo that embeds: without its head, in evaluation mode.

    ::

        model = mmface.get_model('arcface_mobilefacenet_procedural')
        inputs = model.data_preprocessor(dict(inputs=images))['inputs']  # uint8 RGB [B, 3, H, W], aligned crops
        embeddings = model(inputs)  # [B, D], not normalised

    What it eats stands in ``model.data_preprocessor``: ``size``, ``color``, ``mean``, ``std``, ``template``.

    Args:
        name: see :func:`list_models`.
        pretrained: whether it comes with its weights, which are fetched where they are not there yet; or a file with them, fetched by
            hand.
        device: where to put it. Default: the CPU.
        accept_unverified: takes weights whose author publishes no hash, see :func:`mmface.zoo.download`.

    Raises:
        ValueError: no such name (the nearest are suggested); no weights (says how to come by them); a file that does not fit.
        DownloadError: weights that cannot be fetched, or are not those expected.
    """
    return build_model(zoo_source(model_index().find(name), pretrained, accept_unverified)).to(device or 'cpu')


def list_models(pattern: str | None = None, task: str | None = None) -> list[str]:
    """Names of the zoo in alphabetical order.

    Args:
        pattern: with ``*``, ``?`` or ``[...]`` the whole name has to match, otherwise a part of it; case does not matter.
        task: only models with a result of this task, such as ``'Face Verification'``.
    """
    return model_index().names(pattern, task)


def get_model_info(name: str) -> ModelEntry:
    """What the zoo says of a model: results and who says so, licence, where its weights are.

    Raises:
        ValueError: no such name; the nearest are suggested.
    """
    return model_index().find(name)

"""From a config and a checkpoint, a converted pair or a name of the zoo, to a network that embeds."""
from pathlib import Path

from mmengine.config import Config
from mmengine.model import BaseModel

from mmface.zoo.build_network import build_network

from .model_argument import ModelSource, model_source


def init_model(model: str | Path | Config, checkpoint: str | Path | None = None, accept_unverified: bool = False) -> BaseModel:
    """Builds a recognizer without its head, on the CPU and in evaluation mode.

    Without the head a network trained on other identities fits too, and a large one takes no memory. What the network eats stands in its
    ``data_preprocessor``: ``size``, ``color``, ``mean``, ``std``, ``template``.

    Args:
        model: a config, or its file; a converted pair; or a name of the zoo, see :func:`~mmface.apis.model_argument.model_source`.
        checkpoint: the config's weights; None leaves them as they are drawn.
        accept_unverified: takes weights of the zoo whose author publishes no hash, see :func:`mmface.zoo.download`.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the config has no model, or the checkpoint does not fit, or holds more than tensors and plain values.
        DownloadError: weights of the zoo that cannot be fetched.
    """
    return build_model(model_source(model, checkpoint, accept_unverified))


def build_model(source: ModelSource) -> BaseModel:
    """The network of a source, see :func:`init_model`."""
    return build_network(source.config.model, source.weights, source.where, source.config.get('default_scope', 'mmface'))

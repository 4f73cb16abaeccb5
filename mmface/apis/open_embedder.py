"""What runs a network, whatever the model argument is."""
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config

from .onnx_backend import OnnxEmbedder
from .torch_backend import TorchEmbedder

Embedder = OnnxEmbedder | TorchEmbedder


def open_embedder(model: str | Path | Config,
                  checkpoint: str | Path | None = None,
                  device: str | None = None,
                  providers: Sequence[str] | None = None,
                  accept_unverified: bool = False,
                  **onnx_options: Any) -> Embedder:
    """An ONNX file through ONNX Runtime, everything else through torch.

    Args:
        model: an ``.onnx`` file, a config, a converted pair or a name of the zoo, see :func:`~mmface.apis.model_argument.model_source`.
        checkpoint: a config's weights.
        device: where torch runs. Default: where ``providers`` begin to run, else CUDA where there is one.
        providers: where an ONNX file runs.
        accept_unverified: takes weights of the zoo whose author publishes no hash.
        onnx_options: further arguments of :class:`OnnxEmbedder`; None is no argument.

    Raises:
        ValueError: an option of an ONNX file for another model, which knows what it eats; and as the parts raise it.
        OSError, ImportError: as the parts raise them.
    """
    if not isinstance(model, Config) and Path(model).suffix == '.onnx':
        if checkpoint is not None:
            raise ValueError(f'{model} has its own weights: leave {checkpoint} out')
        return OnnxEmbedder(model, providers, **onnx_options)
    threads = onnx_options.pop('threads', None)
    if threads is not None:
        torch.set_num_threads(threads)
    given = [name for name, value in onnx_options.items() if value is not None]
    if given:
        raise ValueError(f'{given[0]} is for ONNX files: {model} says by itself what it eats')
    if device is None and providers:
        device = 'cpu' if providers[0] == 'CPUExecutionProvider' else 'cuda'
    return TorchEmbedder(model, checkpoint, device, accept_unverified)

"""Embeddings from a network of ours through torch."""
import hashlib
import json
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from mmengine.config import Config

from .init_model import build_model
from .model_argument import model_source


class TorchEmbedder:
    """Runs a recognizer on aligned crops, as :class:`~mmface.apis.OnnxEmbedder` runs a file.

    Args:
        model: a config, or its file; a converted pair; or a name of the zoo, see :func:`~mmface.apis.init_model`.
        checkpoint: the config's weights; None leaves them as they are drawn.
        device: where to run, as torch names it. Default: CUDA where there is one, else the CPU.
        accept_unverified: takes weights of the zoo whose author publishes no hash.

    Attributes:
        path: after what reports call it.
        size: (height, width) of the crops.
        template: to which landmark template they have to be aligned.
        runs_on: in words, what it runs on.
        metadata: empty: thresholds stand in exported files.

    Raises:
        FileNotFoundError, ValueError, DownloadError: see :func:`~mmface.apis.init_model`.
    """

    def __init__(self,
                 model: str | Path | Config,
                 checkpoint: str | Path | None = None,
                 device: str | None = None,
                 accept_unverified: bool = False) -> None:
        source = model_source(model, checkpoint, accept_unverified)
        self.device = torch.device(device or ('cuda' if torch.cuda.is_available() else 'cpu'))
        self.path = Path(source.name)
        self._config = source.config.model
        self.model = build_model(source).to(self.device)
        self.size: tuple[int, int] = self.model.data_preprocessor.size
        self.template: str = self.model.data_preprocessor.template
        self.runs_on = f'torch {torch.__version__} on {self.device}'
        self.metadata: dict = {}

    @cached_property
    def model_id(self) -> str:
        """The identity of the network: SHA-256 over what it is built of and its weights; another than that of an ONNX file made of it."""
        parts = {key: value for key, value in self._config.to_dict().items() if key != 'head'}
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(f'{name} {tensor.dtype} {list(tensor.shape)}'.encode())
            digest.update(tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    def describe(self) -> dict:
        """What is run, and on what input: plain values, for reports."""
        eats = self.model.data_preprocessor
        return dict(
            path=str(self.path), model_id=self.model_id, size=list(self.size), color=eats.color, mean=list(eats.mean), std=list(eats.std),
            template=self.template, preprocessing_in_graph=True, providers=[self.runs_on])

    @torch.inference_mode()
    def embed(self, images: np.ndarray) -> np.ndarray:
        """uint8 RGB [B, H, W, 3] -> float32 [B, D], not normalised.

        Raises:
            ValueError: images of another size.
        """
        inputs = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        prepared = self.model.data_preprocessor(dict(inputs=inputs), False)['inputs']
        return self.model(prepared, mode='tensor').float().cpu().numpy()

    def embed_with_norm(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The embeddings and their lengths, float32 [B]: what quality is read off."""
        embeddings = self.embed(images)
        return embeddings, np.linalg.norm(embeddings.astype(np.float64), axis=1).astype(np.float32)

"""Embeddings from a config and a checkpoint through torch."""
from pathlib import Path

import numpy as np
import torch
from mmengine.config import Config

from .init_model import init_model


class TorchEmbedder:
    """Runs a recognizer on aligned crops, as :class:`~mmface.apis.OnnxEmbedder` runs a file.

    Args:
        config: a config, or its file.
        checkpoint: its weights; None leaves them as they are drawn.
        device: where to run, as torch names it. Default: CUDA where there is one, else the CPU.

    Attributes:
        size: (height, width) of the crops.
        template: to which landmark template they have to be aligned.

    Raises:
        FileNotFoundError, ValueError: see :func:`~mmface.apis.init_model`.
    """

    def __init__(self, config: str | Path | Config, checkpoint: str | Path | None = None, device: str | None = None) -> None:
        self.device = torch.device(device or ('cuda' if torch.cuda.is_available() else 'cpu'))
        self.model = init_model(config, checkpoint).to(self.device)
        self.size: tuple[int, int] = self.model.data_preprocessor.size
        self.template: str = self.model.data_preprocessor.template

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

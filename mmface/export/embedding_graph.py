"""The computation that goes into an exported file."""
import torch
from mmengine.model import BaseModel
from torch import Tensor, nn

from .graph_options import GraphOptions


class EmbeddingGraph(nn.Module):
    """A recognizer with what :class:`GraphOptions` puts around it, by default its preprocessing: uint8 RGB images in, embeddings out.

    The caller cannot get colour order, mean or std wrong, because they are no longer the caller's business.

    Args:
        model: a :class:`mmface.models.FaceRecognizer`; it is used, not copied.
        options: what to put around it.
    """

    def __init__(self, model: BaseModel, options: GraphOptions | None = None) -> None:
        super().__init__()
        self.model, self.options = model, options or GraphOptions()

    @property
    def example(self) -> Tensor:
        """A batch of two black images in the form that the graph takes."""
        height, width = self.model.data_preprocessor.size
        shape = (2, 3, height, width) if self.options.layout == 'NCHW' else (2, height, width, 3)
        return torch.zeros(shape, dtype=torch.uint8 if self.options.preprocessing else torch.float32)

    def forward(self, images: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """[B, H, W, 3] or [B, 3, H, W] -> float32 [B, D] and, where it was asked for, the norms [B]."""
        options = self.options
        images = images if options.layout == 'NCHW' else images.permute(0, 3, 1, 2)
        inputs = self.model.data_preprocessor.normalize(images) if options.preprocessing else images
        if options.flip:  # both halves go through in one batch, so that the graph holds the network once
            embedding = self.model(torch.cat([inputs, inputs.flip(3)]), mode='tensor').unflatten(0, (2, -1)).sum(0)
        else:
            embedding = self.model(inputs, mode='tensor')
        norm = torch.linalg.vector_norm(embedding, dim=1)
        if options.normalize:
            embedding = embedding / norm.clamp_min(torch.finfo(norm.dtype).tiny)[:, None]
        return (embedding, norm) if options.norm else embedding

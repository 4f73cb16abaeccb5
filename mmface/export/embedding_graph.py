"""The computation that goes into an exported file."""
from mmengine.model import BaseModel
from torch import Tensor, nn


class EmbeddingGraph(nn.Module):
    """A recognizer with its preprocessing in front: uint8 RGB images in, embeddings out.

    The caller cannot get colour order, mean or std wrong, because they are no longer the caller's business.

    Args:
        model: a :class:`mmface.models.FaceRecognizer`; it is used, not copied.
    """

    def __init__(self, model: BaseModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        """uint8 RGB [B, H, W, 3] -> float32 [B, D], not normalised."""
        return self.model(self.model.data_preprocessor.normalize(images.permute(0, 3, 1, 2)), mode='tensor')

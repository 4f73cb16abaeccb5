"""The recognizer: preprocessing, backbone, neck and head in one MMEngine model."""
from collections.abc import Sequence

import torch
from mmengine.model import BaseModel
from torch import Tensor

from mmface.registry import MODELS
from mmface.structures import FaceDataSample


@MODELS.register_module()
class FaceRecognizer(BaseModel):
    """Turns face images into embeddings, and embeddings into losses.

    Args:
        backbone: images ``[B, 3, H, W]`` to a tuple whose last item is a feature map; ours or any of mmpretrain's.
        neck: feature map to embedding ``[B, D]``; None where the backbone ends in vectors.
        head: prototypes and loss; None for a model that only embeds.
        data_preprocessor: see :class:`~mmface.models.FaceDataPreprocessor`.
        predict_mirrored: whether predictions also carry the embedding of the mirrored image, as ``mirrored_embedding``, for metrics with a
            ``flip``; takes twice the time.
        frozen: parts that are not trained: of ``'backbone'``, ``'neck'``, ``'head'``. They get no gradient and stay in evaluation mode.
    """

    def __init__(self,
                 backbone: dict,
                 neck: dict | None = None,
                 head: dict | None = None,
                 data_preprocessor: dict | None = None,
                 predict_mirrored: bool = False,
                 frozen: Sequence[str] = (),
                 init_cfg: dict | None = None) -> None:
        super().__init__(MODELS.build(data_preprocessor or dict(type='FaceDataPreprocessor')), init_cfg)
        self.backbone = MODELS.build(backbone)
        self.neck = None if neck is None else MODELS.build(neck)
        self.head = None if head is None else MODELS.build(head)
        self.predict_mirrored = predict_mirrored
        self.frozen = tuple(self.get_submodule(part) for part in frozen)
        for part in self.frozen:
            part.requires_grad_(False)
        if self.head is not None and (ignored := self.head.ignored_by_ddp()):
            self._ddp_params_and_buffers_to_ignore = [f'head.{name}' for name in ignored]  # read by DistributedDataParallel

    def train(self, mode: bool = True) -> 'FaceRecognizer':
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self

    @property
    def with_neck(self) -> bool:
        return self.neck is not None

    @property
    def with_head(self) -> bool:
        return self.head is not None

    def forward(self,
                inputs: Tensor,
                data_samples: FaceDataSample | list[FaceDataSample] | None = None,
                mode: str = 'tensor') -> Tensor | dict[str, Tensor] | list[FaceDataSample]:
        """Runs the network on preprocessed images.

        Args:
            inputs: float ``[B, 3, H, W]``, as the data preprocessor leaves them.
            data_samples: a batch, or a list of B; needed (with ``gt_label``) for ``'loss'``.
            mode: ``'tensor'``: embeddings ``[B, D]``, not normalised. ``'loss'``: a dict of tensors; MMEngine sums those whose key contains
                "loss". ``'predict'``: B samples, each with its ``embedding`` ``[D]``.
        """
        if mode == 'tensor':
            return self.extract_feat(inputs)
        if mode == 'loss':
            return self.loss(inputs, data_samples)
        if mode == 'predict':
            return self.predict(inputs, data_samples)
        raise ValueError(f"mode must be 'tensor', 'loss' or 'predict', got {mode!r}")

    def extract_feat(self, inputs: Tensor, stage: str = 'neck') -> Tensor:
        """The embedding ``[B, D]`` for stage ``'neck'``, the last feature map for ``'backbone'``."""
        if stage not in ('backbone', 'neck'):
            raise ValueError(f"stage must be 'backbone' or 'neck', got {stage!r}")
        embeddings, feature_map = self._embed(inputs)
        return feature_map if stage == 'backbone' else embeddings

    def loss(self, inputs: Tensor, data_samples: FaceDataSample | list[FaceDataSample] | None) -> dict[str, Tensor]:
        if self.head is None:
            raise ValueError("this FaceRecognizer has no head, so it has no loss: give it head=dict(type='FaceClsHead', ...)")
        if data_samples is None or 'gt_label' not in (samples := FaceDataSample.batch(data_samples)):
            raise ValueError("mode 'loss' needs data_samples with gt_label")
        embeddings, feature_map = self._embed(inputs)
        return self.head.loss(embeddings, samples, feature_map) if self.head.needs_feature_map else self.head.loss(embeddings, samples)

    def predict(self, inputs: Tensor, data_samples: FaceDataSample | list[FaceDataSample] | None = None) -> list[FaceDataSample]:
        samples = FaceDataSample() if data_samples is None else FaceDataSample.batch(data_samples).new()
        embeddings, feature_map = self._embed(inputs)
        samples.embedding = wide(embeddings)
        if self.predict_mirrored:
            samples.mirrored_embedding = wide(self.extract_feat(inputs.flip(3)))
        if self.head is not None and self.head.needs_feature_map:
            samples = self.head.predict(samples, feature_map)
        return samples.split()

    def _embed(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings ``[B, D]`` and the last feature map of preprocessed images."""
        feature_map = self.backbone(inputs)[-1]
        return feature_map if self.neck is None else self.neck(feature_map), feature_map


def wide(embeddings: Tensor) -> Tensor:
    """At least fp32."""
    return embeddings.to(torch.promote_types(embeddings.dtype, torch.float32))

"""The embedding layer of the field's vision transformers (InsightFace's ViT, WebFace42M): all tokens, FC, BN, FC, BN."""
from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS


@MODELS.register_module()
class ViTNeck(BaseModule):
    """Tokens as a map ``[B, in_channels, h, w]`` to embedding ``[B, out_channels]``, not normalised.

    The tokens are laid one after the other, row by row, so the weights are those of the published networks as they stand. The backbone is
    ``dict(type='mmpretrain.VisionTransformer', out_type='featmap', with_cls_token=False, ...)``.

    Args:
        in_channels: size of a token.
        feat_size: (h, w) of the map, or one number for both: 14 for 112 x 112 images and patches of 8.
        out_channels: D, the embedding size.
        eps: of both batch norms.
    """

    def __init__(self,
                 in_channels: int = 512,
                 feat_size: int | tuple[int, int] = 14,
                 out_channels: int = 512,
                 eps: float = 2e-5,
                 init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        height, width = (feat_size, feat_size) if isinstance(feat_size, int) else feat_size
        self.fc1 = nn.Linear(in_channels * height * width, in_channels, bias=False)
        self.norm1 = nn.BatchNorm1d(in_channels, eps)
        self.fc2 = nn.Linear(in_channels, out_channels, bias=False)
        self.norm2 = nn.BatchNorm1d(out_channels, eps)
        for fc in (self.fc1, self.fc2):
            nn.init.trunc_normal_(fc.weight, std=.02)

    def forward(self, feature_map: Tensor) -> Tensor:
        tokens = feature_map.flatten(2).transpose(1, 2)
        return self.norm2(self.fc2(self.norm1(self.fc1(tokens.flatten(1)))))

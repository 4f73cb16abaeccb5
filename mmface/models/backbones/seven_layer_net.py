"""The seven-layer network of toy experiments, whose embeddings can be looked at."""
from mmengine.model import BaseModule
from torch import Tensor, nn

from mmface.registry import MODELS


@MODELS.register_module()
class SevenLayerNet(BaseModule):
    """Images ``[B, 3, H, W]`` to embeddings ``[B, out_channels]``, not normalised: six convolutions 3 x 3 and a linear map; needs no neck.

    GB-CosFace (ACCV 2022) looks at the features of ten identities in a seven-layer network's three dimensions. Its authors' code does not
    have that network; these layers are laid out as in the field's usual toy network (center loss, Wen et al., ECCV 2016): three stages of
    two convolutions, each with BN and PReLU, each stage halving the map.

    Args:
        out_channels: D: 3 for a sphere that can be drawn, 2 for a circle.
        feat_size: (h, w) of the last map, or one number for both: an eighth of the images' sides, 14 for 112 x 112.
        width: channels of the first stage; the others have two and four times as many.
        init_cfg: MMEngine's; PyTorch's initial weights where it says nothing.
    """

    def __init__(self,
                 out_channels: int = 3,
                 feat_size: int | tuple[int, int] = 14,
                 width: int = 32,
                 init_cfg: dict | list[dict] | None = None) -> None:
        super().__init__(init_cfg)
        layers, in_channels = [], 3
        for channels in (width, 2 * width, 4 * width):
            for stride in (1, 2):
                layers += [nn.Conv2d(in_channels, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels), nn.PReLU(channels)]
                in_channels = channels
        self.convs = nn.Sequential(*layers)
        rows, columns = (feat_size, feat_size) if isinstance(feat_size, int) else feat_size
        self.fc = nn.Linear(in_channels * rows * columns, out_channels)

    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (self.fc(self.convs(x).flatten(1)), )

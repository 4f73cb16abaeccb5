"""EdgeFace (George et al., T-BIOM 2024): EdgeNeXt with linear maps of low rank."""
from mmpretrain.models.backbones import EdgeNeXt
from mmpretrain.models.utils import PositionEncodingFourier
from torch import Tensor, nn

from mmface.registry import MODELS

from ..low_rank_linear import factor_linear_maps


class PositionProjection(nn.Conv2d):
    """A convolution in the precision of its weights: mmpretrain gives it fp32, whatever the network is in."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.to(self.weight.dtype))


@MODELS.register_module()
class EdgeFace(EdgeNeXt):
    """Images ``[B, 3, H, W]`` to pooled, layer-normalised vectors ``[B, out_channels]``.

    The embedding is :class:`~mmface.models.PoolNeck` with ``bias=True, norm=False`` and the same ``rank_ratio``. Layers of mmpretrain's
    EdgeNeXt; the epsilon of the layer norms, 1e-6, and the initial weights are those of timm, which the authors' code builds on.

    Args:
        arch: ``'xxsmall'``, ``'xsmall'``, ``'small'`` or ``'base'``.
        rank_ratio: the paper's gamma: ranks of the linear maps as a fraction of their smaller side; None keeps them whole. The paper's
            EdgeFace-XS has 0.6, its EdgeFace-S 0.5.
        drop_path_rate: stochastic depth of the last unit; it grows linearly from 0.
        init_cfg: MMEngine's; weights are drawn from N(0, 0.02), cut at two deviations, where it says nothing.

    Attributes:
        out_channels: size of the vectors: 168, 192, 304 or 584.
    """

    def __init__(self,
                 arch: str = 'xsmall',
                 rank_ratio: float | None = None,
                 drop_path_rate: float = 0.,
                 init_cfg: dict | list[dict] | None = None) -> None:
        if arch not in EdgeNeXt.arch_settings:
            raise ValueError(f'EdgeFace: arch must be one of {sorted(EdgeNeXt.arch_settings)}, got {arch!r}')
        super().__init__(arch, drop_path_rate=drop_path_rate, init_cfg=init_cfg)
        self.out_channels = self.channels[-1]
        for module in self.modules():
            if isinstance(module, PositionEncodingFourier):
                module.proj = PositionProjection(module.proj.in_channels, module.proj.out_channels, 1)
        for module in self.modules():
            if isinstance(module, nn.LayerNorm):
                module.eps = 1e-6
            elif isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.trunc_normal_(module.weight, std=.02, a=-.04, b=.04)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        if rank_ratio is not None:
            factor_linear_maps(self, rank_ratio)

    def train(self, mode: bool = True) -> 'EdgeFace':
        super().train(mode)  # gives nothing back, so eval() would not either
        return self

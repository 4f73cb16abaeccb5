"""A linear map through fewer dimensions (EdgeFace, T-BIOM 2024)."""
from torch import nn


class LowRankLinear(nn.Sequential):
    """``[..., in_features]`` to ``[..., out_features]``, factored: of rank ``ratio`` times the smaller of both, rounded down, at least 2.

    Args:
        ratio: the paper's gamma, in (0, 1].
        bias: of the second factor; the first has none.
    """

    def __init__(self, in_features: int, out_features: int, ratio: float, bias: bool = True) -> None:
        if not 0 < ratio <= 1:
            raise ValueError(f'the ratio of ranks must be in (0, 1], got {ratio}')
        rank = max(2, int(min(in_features, out_features) * ratio))
        super().__init__(nn.Linear(in_features, rank, bias=False), nn.Linear(rank, out_features, bias=bias))


def factor_linear_maps(module: nn.Module, ratio: float) -> None:
    """Puts a new :class:`LowRankLinear` in the place of every ``nn.Linear`` inside of ``module``."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LowRankLinear(child.in_features, child.out_features, ratio, child.bias is not None))
        else:
            factor_linear_maps(child, ratio)

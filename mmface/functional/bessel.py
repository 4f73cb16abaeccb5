"""The modified Bessel function of the first kind, as the von Mises-Fisher distribution needs it: in logs, differentiable, for any order."""
import torch
from torch import Tensor

#: From this order on four terms of the uniform expansion are exact to 1e-11.
_LARGE_ORDER = 64


def log_bessel_i_over_power(order: float, x: Tensor) -> Tensor:
    """``log I_order(x) - order log x``, which is smooth down to x = 0; differentiable in x.

    Debye's uniform expansion (Abramowitz & Stegun 9.7.7) where the order is large, and from there downwards the recurrence
    ``I_n = I_(n+2) + 2 (n+1) / x I_(n+1)`` on the ratios, whose terms are all positive.

    Args:
        order: >= 0; d / 2 - 1 for unit vectors in d dimensions.
        x: >= 0, any shape.

    Returns:
        The logarithm in x's dtype, computed in float64: in float32 the expansion's large terms would cancel four digits.
    """
    dtype, x = x.dtype, x.double()
    steps = max(0, int(_LARGE_ORDER - order))
    value = _debye(order + steps, x)
    if steps:
        # ratio = I_(n+1)(x) / (x I_n(x))
        ratio = (_debye(order + steps + 1, x) - value).exp()
        for n in reversed(range(steps)):
            ratio = 1 / (2 * (order + n + 1) + x * x * ratio)
            value = value - ratio.log()
    return value.to(dtype)


def _debye(order: float, x: Tensor) -> Tensor:
    root = (1 + (x / order)**2).sqrt()
    p = 1 / root
    q = p * p
    terms = (p * (3 - 5 * q) / 24,
             q * (81 + q * (-462 + 385 * q)) / 1152,
             p * q * (30375 + q * (-369603 + q * (765765 - 425425 * q))) / 414720,
             q * q * (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + 185910725 * q)))) / 39813120)
    series = torch.stack([term / order**(k + 1) for k, term in enumerate(terms)]).sum(0)
    exponent = order * (root - (1 + root).log() - torch.log(x.new_tensor(order)))
    return exponent - torch.log(2 * torch.pi * order * root) / 2 + torch.log1p(series)

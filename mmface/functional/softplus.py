"""``log(1 + exp(x))`` as exact as the numbers are."""
import torch.nn.functional as F
from torch import Tensor


def softplus(x: Tensor) -> Tensor:
    """``log(1 + exp(x))`` to the last digit: torch's default replaces it by x from 20 on, an error of 2e-9 that float64 gradients show."""
    return F.softplus(x, threshold=40.)

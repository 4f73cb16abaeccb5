"""Random numbers as functions of their place: no generator, no state, the same on every device, rank and resumed run."""
import torch
from torch import Tensor


def _mix(x: Tensor) -> Tensor:
    """The finaliser of SplitMix64 (Steele et al., 2014) on int64, whose products wrap around: every input bit moves every output bit."""
    x = (x ^ _shift_right(x, 30)) * -0x40A7B892E31B1A47
    x = (x ^ _shift_right(x, 27)) * -0x6B2FB644ECCEEE15
    return x ^ _shift_right(x, 31)


def _shift_right(x: Tensor, bits: int) -> Tensor:
    """A shift that fills with zeros; torch's own copies the sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def uniform(seed: int, step: Tensor | int, index: Tensor) -> Tensor:
    """Numbers inside (0, 1), one for each (seed, step, index).

    Args:
        seed: any integer.
        step: the training step, an int or an int64 scalar.
        index: int64, any shape: which sample or class the number is for.

    Returns:
        float64 of the shape of ``index``, with 52 random bits.
    """
    golden = -0x61C8864680B583EB
    key = torch.zeros((), dtype=torch.int64, device=index.device)
    for part in (seed, step, index):
        key = _mix(key + golden + part)
    return (_shift_right(key, 12).double() + 0.5) / 2**52


def normal(seed: int, step: Tensor | int, index: Tensor) -> Tensor:
    """N(0, 1) numbers, one for each (seed, step, index); see :func:`uniform`."""
    return torch.special.ndtri(uniform(seed, step, index))

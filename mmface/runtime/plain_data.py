"""Plain data: what ``torch.load(weights_only=True)`` reads back."""
from typing import Any

import numpy as np
import torch


def plain(value: Any, replaced: list[str], where: str = 'checkpoint') -> Any:
    """``value`` with NumPy scalars and arrays as Python's, and any mapping as a dict; tensors, strings and numbers as they are.

    What is none of these becomes its ``repr``, and its place (``where`` and the keys down to it) is appended to ``replaced``.
    """
    match value:
        case np.generic():
            return value.item()
        case np.ndarray():
            return plain(value.tolist(), replaced, where)
        case None | bool() | int() | float() | complex() | str() | bytes() | torch.Tensor() | torch.dtype() | torch.Size():
            return value
        case dict():
            return {plain(key, replaced, where): plain(item, replaced, f'{where}[{key!r}]') for key, item in value.items()}
        case list() | tuple() | set():
            kind = next(kind for kind in (list, tuple, set) if isinstance(value, kind))
            return kind(plain(item, replaced, f'{where}[{i}]') for i, item in enumerate(value))
    replaced.append(where)
    return repr(value)

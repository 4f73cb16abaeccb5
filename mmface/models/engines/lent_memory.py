"""Memory for one large tensor, kept from step to step."""
import math
import weakref
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class LentMemory:
    """Lends its memory to one tensor at a time.

    The C library gives every large buffer back to the system when it is freed, and whoever asks for it again pays a page fault for each of
    its pages: for a gradient of the prototypes that is as long as a matrix product. What is kept here is touched once. Other devices have
    allocators that keep their pages; there a new tensor is as good, and this makes one.

    A copy or a pickle of this object is an empty one.
    """

    def __init__(self) -> None:
        self._memory = np.empty(0, np.float32)
        self._borrower: weakref.ref | None = None

    def take(self, shape: Sequence[int], like: Tensor) -> Tensor:
        """An uninitialised tensor of ``shape`` with the dtype and device of ``like``.

        It lies in the kept memory, unless a tensor made over that is still in use (by ``weight.grad``, for example): then in fresh memory.
        """
        lent = self._borrower is not None and self._borrower() is not None
        if lent or like.device.type != 'cpu':
            return like.new_empty(shape)
        size = math.prod(shape)
        if self._memory.nbytes < size * like.itemsize or self._memory.itemsize != like.itemsize:
            self.release()
            self._memory = torch.empty(size, dtype=like.dtype).numpy()
        # The tensor's storage keeps this array alive, whatever becomes of the tensor: as long as it lives the memory is lent.
        lease = self._memory[:size].reshape(shape)
        self._borrower = weakref.ref(lease)
        return torch.from_numpy(lease)

    def release(self) -> int:
        """Forgets the memory, which is freed as soon as no tensor uses it; returns its size in bytes."""
        size = self._memory.nbytes
        self._memory, self._borrower = np.empty(0, np.float32), None
        return size

    def __reduce__(self) -> tuple[type['LentMemory'], tuple[()]]:
        return type(self), ()

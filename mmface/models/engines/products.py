"""Matrix products in the precision of a pass."""
import torch
from torch import Tensor

#: What the factors of products may be rounded to.
DTYPES = {'bfloat16': torch.bfloat16, 'float16': torch.float16}


class Products:
    """Matrix products that are summed, and returned, in the precision of their factors, at least fp32.

    Args:
        dtype: what the factors are rounded to first, or None. A GPU multiplies such numbers several times as fast; a CPU gets the same
            results at no gain. float16 is narrow: factors are scaled so that their largest entry is 1.
    """

    def __init__(self, dtype: torch.dtype | None = None) -> None:
        self.dtype = dtype

    def __call__(self, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        """``a`` ``[n, m]`` times ``b`` ``[m, l]``, in ``out`` where given."""
        if self.dtype is None:
            return torch.mm(a, b, out=out)
        product = self._of_rounded(a, b)
        return product if out is None else out.copy_(product)

    def add(self, total: Tensor, a: Tensor, b: Tensor) -> None:
        """Adds ``a`` ``[n, m]`` times ``b`` ``[m, l]`` to ``total``."""
        if self.dtype is None:
            total.addmm_(a, b)
        else:
            total.add_(self._of_rounded(a, b))

    def _of_rounded(self, a: Tensor, b: Tensor) -> Tensor:
        if self.dtype is not torch.float16:
            return self._mm(a, b)
        a_peak, b_peak = (f.abs().amax().clamp_min(torch.finfo(f.dtype).tiny) for f in (a, b))
        return self._mm(a / a_peak, b / b_peak).mul_(a_peak * b_peak)

    def _mm(self, a: Tensor, b: Tensor) -> Tensor:
        narrow_a, narrow_b = a.to(self.dtype), b.to(self.dtype)
        if a.is_cuda and a.dtype == torch.float32:
            return torch.mm(narrow_a, narrow_b, out_dtype=torch.float32)
        return torch.mm(narrow_a.to(a.dtype), narrow_b.to(b.dtype))

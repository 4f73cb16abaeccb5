"""Which losses are a softmax over classes, so that they have a probability."""
import torch
from torch import Tensor

from .face_loss import FaceLoss, Target

_FAR = 1e4  # so much more than any logit that one side wins for certain


def is_softmax(loss: FaceLoss, norm: float = 20.) -> bool:
    """Whether a loss is softplus(S - logit) plus what does not depend on S, found by autograd; dL/dS is then 1 - P of the target.

    Asked in eval mode, so that its state stays as it is.

    Args:
        loss: in any mode.
        norm: of the features that it is asked about.
    """
    own = next((tensor for tensor in (*loss.buffers(), *loss.parameters()) if tensor.is_floating_point()), torch.empty(0).double())
    cosine = torch.linspace(-.9, .9, 19).to(own)
    length = loss.radius if loss.features == 'unit' else norm
    t = Target(cosine * length, torch.full_like(cosine, norm), torch.ones_like(cosine), statistic=lambda _: torch.zeros_like(cosine))
    training = loss.training
    loss.eval()
    try:
        spec = loss.prepare(t)
        if spec is None or spec.kind != 'lse':
            return False
        even = _even(loss, t)
        moved = _wrong(loss, t, even + 1.5).logit() - _wrong(loss, t, even).logit()
        return torch.allclose(moved, torch.full_like(moved, 1.5), rtol=1e-6 if own.dtype == torch.float64 else 1e-2)
    finally:
        loss.train(training)


def _wrong(loss: FaceLoss, t: Target, S: Tensor) -> Tensor:
    """dL/dS ``[B]``."""
    S = S.detach().requires_grad_()
    return torch.autograd.grad(loss(t, S).sum(), S)[0]


def _even(loss: FaceLoss, t: Target) -> Tensor:
    """The S ``[B]`` at which neither side has won: in a softmax the target's logit. Far from it rounding would hide what moves."""
    low, high = torch.full_like(t.similarity, -_FAR), torch.full_like(t.similarity, _FAR)
    for _ in range(80):
        middle = (low + high) / 2
        negatives_win = _wrong(loss, t, middle) > .5
        low, high = torch.where(negatives_win, low, middle), torch.where(negatives_win, middle, high)
    return (low + high) / 2

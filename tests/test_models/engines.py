"""What the tests of the engines share: engines to compare, a head in front of each, and a step of it."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from mmface.registry import MODELS

ENGINES = dict(
    store=dict(type='FusedEngine', mode='store', chunk_size=4),
    recompute=dict(type='FusedEngine', mode='recompute', chunk_size=4),
    store_in_one_chunk=dict(type='FusedEngine', mode='store'),
    sample_of_all=dict(type='SampledEngine', ratio=1., mode='store', chunk_size=3))
CLASSES, DIM = 13, 6


def rows(count=8, classes=CLASSES, dim=DIM, seed=0, length=9.):
    """Embeddings ``[count, dim]`` in float64 and labels, one of which counts for nothing."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(classes, (count, ), generator=generator)
    labels[count // 2:][:count > 2] = -1
    return torch.randn(count, dim, generator=generator, dtype=torch.float64) * length, labels


def build(engine, loss, classes=CLASSES, dim=DIM, dtype=torch.float64, **arguments):
    head = MODELS.build(
        dict(type='FaceClsHead', num_classes=classes, in_channels=dim, init_std=1., loss=loss, engine=engine, **arguments)).to(dtype)
    if head.bias is not None:
        head.bias.data.copy_(torch.linspace(-1, 1, classes))
    return head


def step(head, embeddings, labels, **arguments):
    """Loss, gradients by name (dense), and buffers of the loss after it."""
    head.zero_grad()
    embeddings = embeddings.detach().to(head.weight.dtype, copy=True).requires_grad_()
    losses = head.compute_loss(embeddings, labels, **arguments)['loss']
    losses.mean().backward()
    gradients = {name: p.grad.to_dense() for name, p in head.named_parameters() if p.grad is not None}
    return dict(loss=losses.detach(), embeddings=embeddings.grad, **gradients), dict(head.loss_module.named_buffers())


def assert_steps_agree(actual, expected, tolerance):
    """Every result and buffer within ``tolerance`` of its own largest entry."""
    for results, references in zip(actual, expected, strict=True):
        assert results.keys() == references.keys()
        for name, reference in references.items():
            close = tolerance * float(reference.abs().max()) if reference.numel() else 0.
            actual = results[name].to(reference.dtype)
            torch.testing.assert_close(actual, reference, rtol=0, atol=close, msg=lambda m, name=name: f'{name}: {m}')


class LargeAllocations(TorchDispatchMode):
    """Counts the tensors of at least ``size`` elements that operators make."""

    def __init__(self, size):
        super().__init__()
        self.size, self.count, self.known = size, 0, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        inputs = {t.untyped_storage().data_ptr() for t in [*args, *(kwargs or {}).values()] if isinstance(t, torch.Tensor)}
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() not in inputs:
                self.count += tensor.numel() >= self.size
        return out

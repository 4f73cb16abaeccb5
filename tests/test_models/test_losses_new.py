"""A loss that exists nowhere else works in every engine: it uses all that the contract allows."""
import pytest
import torch
from torch import nn

from mmface.models import Elementwise, FaceLoss
from mmface.registry import MODELS

ENGINES = [
    dict(type='DenseEngine'),
    dict(type='FusedEngine', mode='store', chunk_size=3),
    dict(type='FusedEngine', mode='recompute', chunk_size=3),
    dict(type='SampledEngine', ratio=1.)]


def crowded(v, own, norm, temperature):
    return torch.tanh(v - own / 2) * temperature + v * torch.log1p(norm)


class CrowdLoss(FaceLoss):
    """Negatives depend smoothly on the target, on the norm, on a learned scalar and on a running statistic."""
    prototypes = 'raw'
    use_bias = True

    def __init__(self, num_classes=None):
        super().__init__(num_classes)
        self.temperature = nn.Parameter(torch.tensor(1.5))
        self.register_buffer('average', torch.tensor(0.))

    def prepare(self, t):
        if self.training:
            self.move(self.average, self.mean_over_batch(t.feature_norm), .5)
        return Elementwise('lse', crowded, t.similarity, t.feature_norm / self.average, self.temperature)

    def forward(self, t, S):
        return torch.logaddexp(S, t.similarity * t.prototype_norm) - t.similarity


@pytest.mark.parametrize('engine', ENGINES, ids=lambda engine: f"{engine['type']}-{engine.get('mode')}")
def test_new_loss_equals_a_loop_over_samples_and_classes(engine):
    config = dict(type='FaceClsHead', num_classes=8, in_channels=3, init_std=1., loss=dict(type=CrowdLoss), engine=engine)
    head = MODELS.build(config).double()
    generator = torch.Generator().manual_seed(0)
    head.bias.data.normal_(generator=generator)
    x = torch.randn(5, 3, dtype=torch.float64, generator=generator).requires_grad_()
    y = torch.tensor([7, 0, 3, 3, 5])
    loss = head.compute_loss(x, y)['loss']

    temperature, average = head.loss_module.temperature, sum(row.detach().norm() for row in x) / len(x) * .5
    assert head.loss_module.average.item() == pytest.approx(average.item())
    total = 0
    for row, label in zip(x, y, strict=True):
        similarity = [row / row.norm() @ w + b for w, b in zip(head.weight, head.bias, strict=True)]
        own, norm = similarity[label], row.norm() / average
        others = [v for j, v in enumerate(similarity) if j != label]
        negatives = sum((torch.tanh(v - own / 2) * temperature + v * torch.log(1 + norm)).exp() for v in others)
        total = total + torch.log(negatives + (own * head.weight[label].norm()).exp()) - own
    torch.testing.assert_close(loss, total / len(x))

    parameters = [x, head.weight, head.bias, temperature]
    for computed, expected in zip(torch.autograd.grad(loss, parameters), torch.autograd.grad(total / len(x), parameters), strict=True):
        torch.testing.assert_close(computed.to_dense() if computed.is_sparse else computed, expected)

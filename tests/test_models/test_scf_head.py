"""SCF: a frozen network learns how sure it is."""
import math

import pytest
import torch
from golden import cases

from mmface.functional.unit import unit
from mmface.registry import MODELS
from mmface.structures import FaceDataSample


def build(num_classes=5, in_channels=3, **arguments):
    torch.manual_seed(0)
    return MODELS.build(dict(type='SCFHead', num_classes=num_classes, in_channels=in_channels, feat_channels=8, **arguments)).double()


@pytest.mark.parametrize('case, inputs', cases(lambda case: case['id'].startswith('scf')))
@pytest.mark.parametrize('dtype, tolerance', [(torch.float64, 1e-10), (torch.float32, 2e-5)], ids=str)
def test_worked_values_hold(case, inputs, dtype, tolerance):
    head = build(radius=case['params']['r']).to(dtype)
    head.weight.requires_grad_().data.copy_(torch.tensor(inputs['W']))
    x = torch.tensor(inputs['X'], dtype=dtype, requires_grad=True)
    kappa = torch.tensor(case['params']['kappa'], dtype=dtype, requires_grad=True)
    each = head.compute_loss(unit(x)[0] * kappa.unsqueeze(1), torch.tensor(inputs['y']), reduction='none')['loss']
    assert each.mean().item() == pytest.approx(case['loss'], rel=tolerance)
    assert each.tolist() == pytest.approx(case['per_sample_loss'], rel=tolerance)
    for computed, name in zip(torch.autograd.grad(each.mean(), (x, head.weight, kappa)), ('dX', 'dW', 'dkappa'), strict=True):
        expected = computed.new_tensor(case[name])
        torch.testing.assert_close(computed, expected, rtol=0, atol=tolerance * float(expected.abs().max()))


def test_density_integrates_to_one():
    """In three dimensions the normalising constant is kappa / (4 pi sinh kappa)."""
    loss = MODELS.build(dict(type='SCFLoss', dim=3, radius=1.)).double()
    for kappa in (.5, 3., 40.):
        value = loss(target_at(1., kappa), None)
        assert value.item() == pytest.approx(-kappa - math.log(kappa / (4 * math.pi * math.sinh(kappa))), rel=1e-9)


def target_at(cosine, kappa):
    from mmface.models import Target
    return Target(torch.tensor([cosine], dtype=torch.float64), torch.tensor([kappa], dtype=torch.float64), torch.ones(1), statistic=None)


def test_best_kappa_grows_with_the_cosine():
    loss = MODELS.build(dict(type='SCFLoss', dim=512)).double()
    kappas = torch.linspace(10, 3000, 600, dtype=torch.float64)
    best = [float(min(kappas, key=lambda kappa: float(loss(target_at(cosine, float(kappa)), None)))) for cosine in (.3, .6, .9)]
    assert best == sorted(best)
    assert best[0] < best[2] / 4


def test_only_the_layers_of_kappa_learn():
    head = build()
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    feature_map = torch.randn(4, 2, 2, 2, dtype=torch.float64, requires_grad=True)
    losses = head.loss(x, FaceDataSample(gt_label=torch.tensor([0, 1, -1, 4])), feature_map)
    losses['loss'].backward()
    assert x.grad is None
    assert feature_map.grad is None
    assert head.weight.grad is None
    assert all(p.grad.isfinite().all() for p in head.log_kappa.parameters())
    assert [key for key in losses if 'loss' in key] == ['loss']


def test_learning_raises_kappa_of_clear_images_above_that_of_unclear_ones():
    head = build(num_classes=2, in_channels=8).float()
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(2, (64, ), generator=generator)
    clear = torch.rand(64, generator=generator) < .5
    noise = torch.randn(64, 8, generator=generator) * torch.where(clear, .1, 3.).unsqueeze(1)
    x = unit(head.weight.data)[0][y] + noise
    feature_map = torch.cat([clear.float().unsqueeze(1), torch.randn(64, 7, generator=generator)], 1)
    optimizer = torch.optim.Adam(head.log_kappa.parameters(), lr=.01)
    for _ in range(200):
        optimizer.zero_grad()
        head.loss(x, FaceDataSample(gt_label=y), feature_map)['loss'].backward()
        optimizer.step()
    kappa = head.kappa(feature_map)
    assert kappa[clear].min() > kappa[~clear].max()


def test_predictions_get_a_kappa_each():
    samples = build().predict(FaceDataSample(embedding=torch.zeros(2, 3)), torch.randn(2, 8, dtype=torch.float64))
    assert [sample.kappa.shape for sample in samples.split()] == [(1, ), (1, )]
    assert (samples.kappa > 0).all()


def test_first_stage_loads_its_prototypes_here():
    first = MODELS.build(dict(type='FaceClsHead', num_classes=5, in_channels=3, loss=dict(type='ArcFaceLoss')))
    head = build().float()
    head.load_state_dict(first.state_dict(), strict=False)
    torch.testing.assert_close(head.weight.data, first.weight.data)


def test_default_layers_are_the_published_ones():
    with torch.device('meta'):
        layers = [tuple(p.shape) for p in MODELS.get('SCFHead')(5, 512).log_kappa.parameters() if p.ndim == 2]
    assert layers == [(12544, 25088), (6272, 12544), (1, 6272)]

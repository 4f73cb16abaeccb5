"""How the losses relate to one another, and what their formulas promise beyond single values."""
import math

import pytest
import torch
from torch.nn import functional as F

from mmface.models import DenseEngine
from mmface.registry import MODELS

CLASSES, DIM = 9, 6


def rows():
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(8, DIM, generator=generator, dtype=torch.float64) * 12
    prototypes = torch.randn(CLASSES, DIM, generator=generator, dtype=torch.float64)
    return x.requires_grad_(), torch.randint(CLASSES, (8,), generator=generator), prototypes.requires_grad_()


def evaluate(name, **arguments):
    """Loss per sample and the gradients of its mean with respect to embeddings and prototypes."""
    loss = MODELS.build(dict(type=name, num_classes=CLASSES, **arguments)).double()
    x, y, prototypes = rows()
    bias = torch.zeros(CLASSES, dtype=torch.float64) if loss.use_bias else None
    each = loss(*DenseEngine()(x, y, prototypes, bias, loss))
    return each.detach(), *torch.autograd.grad(each.mean(), (x, prototypes))


@pytest.mark.parametrize('name, arguments', [
    ('CosFaceLoss', dict(m=0.)),
    ('ArcFaceLoss', dict(m=0.)),
    ('ArcFaceLoss', dict(m=0., beyond_pi='none', detach_margin=True)),
    ('CombinedMarginLoss', dict(m1=1., m2=0., m3=0.)),
    ('AdaFaceLoss', dict(m=0., clip=False)),
    ('MagFaceLoss', dict(l_m=0., u_m=0., lambda_g=0.)),
    ('MVSoftmaxLoss', dict(m=0., w=1.)),
    ('MVSoftmaxLoss', dict(m=0., w=1., kind='arc')),
    ('ElasticFaceLoss', dict(m=0., std=0.)),
    ('ElasticFaceLoss', dict(m=0., std=0., kind='cos', plus=True)),
    ('SphereFaceRLoss', dict(m=1., version='v0', detach_margin=False)),
    ('SphereFaceRLoss', dict(m=1., version='v1', detach_margin=True)),
    ('SphereFaceRLoss', dict(m=1., version='v2', detach_margin=False)),
    ('GBCosFaceLoss', dict(m=0., alpha=0.)),
], ids=str)
def test_without_margin_every_margin_softmax_is_normface(name, arguments):
    torch.testing.assert_close(evaluate(name, s=8., **arguments), evaluate('NormFaceLoss', s=8.), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('first, second', [
    (('COCOLoss', dict(alpha=8.)), ('NormFaceLoss', dict(s=8.))),
    (('NormFaceLoss', dict(s=8., learn_scale=True)), ('NormFaceLoss', dict(s=8.))),
    (('LSoftmaxLoss', dict(m=1, lam=0.)), ('SoftmaxLoss', dict())),
    (('LSoftmaxLoss', dict(m=1, lam=7.)), ('SoftmaxLoss', dict())),
    (('GBCosFaceLoss', dict(s=8., m=.16, alpha=0.)), ('CosFaceLoss', dict(s=8., m=.32))),
    (('GBCosFaceLoss', dict(s=8., m=.16, alpha=0., detach_boundary=False)), ('CosFaceLoss', dict(s=8., m=.32))),
    (('CombinedMarginLoss', dict(s=8., m2=0., m3=.35)), ('CosFaceLoss', dict(s=8., m=.35))),
    (('CombinedMarginLoss', dict(s=8., m2=.5, m3=0.)), ('ArcFaceLoss', dict(s=8., m=.5, beyond_pi='none'))),
    (('ElasticFaceLoss', dict(s=8., m=.5, std=0.)), ('ArcFaceLoss', dict(s=8., m=.5, beyond_pi='none'))),
    (('ElasticFaceLoss', dict(s=8., m=.35, std=0., kind='cos')), ('CosFaceLoss', dict(s=8., m=.35))),
    (('MagFaceLoss', dict(s=8., l_m=.5, u_m=.5, lambda_g=0., easy_margin=False)), ('ArcFaceLoss', dict(s=8., m=.5))),
    (('AdaFaceLoss', dict(s=8., m=.35, h=0., clip=False)), ('CosFaceLoss', dict(s=8., m=.35))),
], ids=str)
def test_equal_losses_are_equal(first, second):
    torch.testing.assert_close(evaluate(first[0], **first[1]), evaluate(second[0], **second[1]), rtol=1e-9, atol=1e-12)


def test_detached_margin_keeps_the_value_and_changes_the_slope():
    for name in ('ArcFaceLoss', 'CombinedMarginLoss', 'AdaFaceLoss', 'SphereFaceRLoss'):
        attached, detached = (evaluate(name, s=8., detach_margin=detach) for detach in (False, True))
        torch.testing.assert_close(attached[0], detached[0])
        assert not torch.allclose(attached[1], detached[1])


def test_nearly_hopeless_sample_keeps_the_last_digits_of_its_gradient(target):
    """torch's own softplus has slope 1 from 20 on, where float64 knows 1 - 2e-9."""
    loss = MODELS.build(dict(type='NormFaceLoss', s=1.))
    t = target([0.])
    t.similarity.requires_grad_()
    for S in (19., 21., 30., 300.):
        value = loss(t, torch.tensor([S], dtype=torch.float64))
        slope, = torch.autograd.grad(value.sum(), t.similarity)
        assert value.item() == pytest.approx(math.log1p(math.exp(-S)) + S, rel=1e-15)
        assert slope.item() == pytest.approx(-1 / (1 + math.exp(-S)), rel=1e-15)


def test_softmax_is_cross_entropy_of_a_linear_layer():
    x, y, prototypes = rows()
    torch.testing.assert_close(evaluate('SoftmaxLoss')[0], F.cross_entropy(x @ prototypes.t(), y, reduction='none').detach())


def test_p2sgrad_pulls_by_one_minus_cosine_and_pushes_by_the_cosine():
    x, y, prototypes = rows()
    cosine = (F.normalize(x) @ F.normalize(prototypes).t()).detach()
    pull = cosine - F.one_hot(y, CLASSES)
    unit_x, unit_w = F.normalize(x).detach(), F.normalize(prototypes).detach()
    expected = torch.stack([
        sum(pull[i, j] * (unit_w[j] - cosine[i, j] * unit_x[i]) for j in range(CLASSES)) / x[i].detach().norm() for i in range(len(x))])
    torch.testing.assert_close(evaluate('P2SGradLoss')[1], expected / len(x))


@pytest.mark.parametrize('classes', [3, 8, 20])
def test_p2sgrad_of_embeddings_free_to_leave_the_prototypes_is_least_at_a_target_cosine_of_d_over_c(classes):
    """Prototypes spread over a plane (D = 2), embeddings that lie between their own and the plane's normal."""
    angles = 2 * math.pi / classes * torch.arange(classes, dtype=torch.float64)
    prototypes = torch.stack([angles.cos(), angles.sin(), 0 * angles], 1)
    normal, y = torch.tensor([0., 0., 1.], dtype=torch.float64), torch.arange(classes)
    loss = MODELS.build(dict(type='P2SGradLoss'))

    def value(cosine):
        x = cosine * prototypes + (1 - cosine**2).clamp_min(0.).sqrt() * normal
        return loss(*DenseEngine()(x, y, prototypes, None, loss)).mean()

    assert float(value(torch.tensor(1.))) == pytest.approx((classes / 2 - 1) / 2)  # on the prototypes: above 1/2 for more than 2 D classes
    assert float(value(torch.tensor(0.))) == pytest.approx(1 / 2)  # of no use to anybody
    cosine = torch.tensor(2 / classes, dtype=torch.float64, requires_grad=True)
    least = value(cosine)
    assert least.item() == pytest.approx((1 - 2 / classes) / 2)
    assert float(torch.autograd.grad(least, cosine)[0]) == pytest.approx(0., abs=1e-12)


def test_adacos_follows_a_brute_force_loop():
    loss = MODELS.build(dict(type='AdaCosLoss', num_classes=CLASSES)).double()
    s = math.sqrt(2) * math.log(CLASSES - 1)
    assert loss.s.item() == pytest.approx(s, rel=1e-6)
    loss.s.fill_(s)
    generator = torch.Generator().manual_seed(0)
    for closeness in (0., 1., 4.):  # median angles above and below pi / 4
        x, y, prototypes = rows()
        x = x.detach() / 12 + closeness * prototypes.detach()[y] + 0.1 * torch.randn(x.shape, generator=generator, dtype=torch.float64)
        value = loss(*DenseEngine()(x, y, prototypes, None, loss))

        cosines = [[float(a @ b / a.norm() / b.norm()) for b in prototypes.detach()] for a in x]
        total = sum(math.exp(s * cosines[i][j]) for i in range(len(x)) for j in range(CLASSES) if j != y[i])
        angles = sorted(math.acos(cosines[i][y[i]]) for i in range(len(x)))
        s = math.log(total / len(x)) / math.cos(min(math.pi / 4, angles[(len(x) - 1) // 2]))
        assert loss.s.item() == pytest.approx(s, rel=1e-12)
        expected = [math.log(sum(math.exp(s * (c - cosines[i][y[i]])) for c in cosines[i])) for i in range(len(x))]
        assert value.tolist() == pytest.approx(expected, rel=1e-9)
    loss.eval()(*DenseEngine()(x, y, prototypes, None, loss))
    assert loss.s.item() == pytest.approx(s, rel=1e-12)


def test_fixed_adacos_keeps_its_scale():
    assert MODELS.build(dict(type='AdaCosLoss', num_classes=10575, dynamic=False)).s.item() == pytest.approx(13.10431986, rel=1e-7)
    expected = evaluate('NormFaceLoss', s=math.sqrt(2) * math.log(CLASSES - 1))
    torch.testing.assert_close(evaluate('AdaCosLoss', dynamic=False), expected, rtol=1e-6, atol=1e-8)


def test_margin_of_l_softmax_grows_as_lambda_falls(target):
    loss = MODELS.build(dict(type='SphereFaceLoss'))
    S = torch.zeros(1, dtype=torch.float64)
    seen = []
    for iteration in (0, 1, 1657, 1658, 10**6):
        loss.iteration.fill_(iteration)
        loss(target([.5]), S)
        seen.append(float(loss._lam()))
    assert seen == pytest.approx([892.857142857142857, 1000 / 1.24, 1000 / (1 + .12 * 1658), 5., 5.])
    assert seen[2] > 5
    assert MODELS.build(dict(type='LSoftmaxLoss', lam=dict(base=1000., gamma=2.5e-5, power=35., min=0.)))._lam() == 1000


@pytest.mark.parametrize('kind, m', [('C', .4), ('A', .5), ('M', 1.7)])
def test_sphereface2_bias_starts_at_the_optimum_for_right_angles(kind, m, target):
    loss = MODELS.build(dict(type='SphereFace2Loss', kind=kind, m=m, num_classes=1000)).double()
    t = target([0.])
    h = loss.prepare(t)(torch.zeros(1, dtype=torch.float64))
    value = loss(t, 999 * h)
    slope, = torch.autograd.grad(value.sum(), loss.bias)
    assert abs(float(slope)) < 1e-6 * float(value.detach())


@pytest.mark.parametrize('t', [.5, 1., 2.5])
def test_sphereface2_stretch_has_a_finite_slope_at_minus_one(t, target):
    loss = MODELS.build(dict(type='SphereFace2Loss', t=t, detach_margin=False, num_classes=9)).double()
    cosine = target([-1., -1 - 1e-15, 1.]).similarity.requires_grad_()
    slope, = torch.autograd.grad(loss.prepare(target([0.]))(cosine).sum(), cosine)
    assert slope.isfinite().all()


def test_uniface_bias_starts_at_log_10_c():
    assert MODELS.build(dict(type='UniFaceLoss', num_classes=5)).bias.item() == pytest.approx(3.912023005428146, rel=1e-7)


def test_elastic_margins_depend_on_seed_step_and_index_only():
    def draws(seed=0, step=3, before=0, n=6):
        loss = MODELS.build(dict(type='ElasticFaceLoss', seed=seed))
        loss.iteration.fill_(step)
        loss.rows_before = lambda rows: before
        return loss.draw(n)

    whole = draws(n=6)
    torch.testing.assert_close(torch.cat([draws(n=2), draws(before=2, n=4)]), whole, rtol=0, atol=0)
    assert not torch.equal(draws(step=4), whole)
    assert not torch.equal(draws(seed=1), whole)


def test_elastic_margins_are_normal():
    scipy_stats = pytest.importorskip('scipy.stats')
    loss = MODELS.build(dict(type='ElasticFaceLoss', m=.5, std=.05))
    for step in range(3):
        loss.iteration.fill_(step)
        assert scipy_stats.kstest(loss.draw(20000).numpy(), 'norm', args=(.5, .05)).pvalue > 1e-3


def test_elastic_plus_gives_the_largest_margin_to_the_hardest_sample(target):
    loss = MODELS.build(dict(type='ElasticFaceLoss', s=8., plus=True, kind='cos'))
    loss.draw = lambda n: torch.tensor([.3, .1, .4, .2])
    t, S = target([.9, -.2, .5, .1]), torch.zeros(4, dtype=torch.float64)
    expected = F.softplus(S - 8 * (t.similarity - t.similarity.new_tensor([.1, .4, .2, .3])))
    torch.testing.assert_close(loss(t, S), expected)


def test_adaface_without_ema_standardises_the_batch(target):
    loss = MODELS.build(dict(type='AdaFaceLoss', momentum=1.)).double()
    norms = torch.tensor([10., 20., 30., 60.], dtype=torch.float64)
    quality = loss._quality(norms)
    torch.testing.assert_close(quality, ((norms - norms.mean()) / (norms.std() + 1e-3) * .333).clamp(-1, 1))


def test_magface_pushes_a_certain_sample_outwards(target):
    loss = MODELS.build(dict(type='MagFaceLoss')).double()
    norm = torch.tensor([20., 5., 200.], dtype=torch.float64, requires_grad=True)
    t = target([.99, .99, .99])
    t.feature_norm = norm
    slope, = torch.autograd.grad(loss(t, torch.full((3,), -20., dtype=torch.float64)).sum(), norm)
    assert slope[0] < 0
    assert slope[1] == slope[2] == 0


def test_magface_warns_below_its_bound():
    with pytest.warns(UserWarning, match=r'lambda_g=20.0 is below 22\.59'):
        MODELS.build(dict(type='MagFaceLoss', lambda_g=20.))


def test_gb_cosface_without_negatives_is_nothing_and_leaves_its_boundary(target):
    loss = MODELS.build(dict(type='GBCosFaceLoss', detach_boundary=False)).double()
    t = target([.3, -.9])
    t.similarity.requires_grad_()
    S = torch.full((2, ), -torch.inf, dtype=torch.float64, requires_grad=True)
    for p_vg in (torch.nan, .6):
        loss.p_vg.fill_(p_vg)
        value = loss(t, S)
        gradients = torch.autograd.grad(value.sum(), (t.similarity, S))
        assert not value.any() and not any(g.any() for g in gradients)
        assert loss.p_vg.item() == pytest.approx(p_vg, nan_ok=True)

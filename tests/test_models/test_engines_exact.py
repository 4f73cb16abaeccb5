"""Every engine gives what the plain form gives, for every loss there is and for some that there are not."""

import pytest
import torch
from engines import CLASSES, DIM, ENGINES, assert_steps_agree, build, rows, step
from registered import LOSSES
from torch import nn

import mmface.models  # noqa: F401  (registers the losses)
from mmface.models import DenseEngine, Elementwise, FaceLoss, LogSumExp
from mmface.registry import MODELS

DENSE = dict(type='DenseEngine')

every_engine = pytest.mark.parametrize('engine', ENGINES.values(), ids=list(ENGINES))


@every_engine
@pytest.mark.parametrize('centers', [1, 2], ids=lambda k: f'{k}_centres')
@pytest.mark.parametrize('name', LOSSES)
def test_every_loss_is_that_of_the_plain_form(name, centers, engine):
    expected, actual = (build(e, dict(type=name), num_centers=centers) for e in (DENSE, engine))
    for seed in range(2):  # the second step has moved the statistics
        assert_steps_agree(step(actual, *rows(seed=seed)), step(expected, *rows(seed=seed)), 1e-10)


@every_engine
@pytest.mark.parametrize('name', LOSSES)
def test_float32_is_near_the_plain_form_in_float64(name, engine):
    x, y = rows(count=16, classes=50, dim=32, length=5.)
    heads = [build(e, dict(type=name), classes=50, dim=32, dtype=d) for e, d in ((DENSE, torch.float64), (engine, torch.float32))]
    for head in heads:
        head.weight.data.copy_(heads[1].weight)
    assert_steps_agree(step(heads[1], x.float(), y), step(heads[0], x.float().double(), y), 2e-5)


@every_engine
@pytest.mark.parametrize('name', ['SoftmaxLoss', 'CurricularFaceLoss'])
@pytest.mark.parametrize('size', [1., 30., 1000.])
@pytest.mark.parametrize('offset', [-150., 0., 150.])
def test_exponentials_beyond_the_range_of_float32_do_no_harm(offset, size, name, engine):
    """Of some rows, or of all, the sums would overflow or vanish: exp(88) and exp(-87) are the ends."""
    x, y = rows(count=16, classes=50, dim=32, length=5.)
    x = x * torch.linspace(.01, 1, 16).unsqueeze(1) * size / 160  # logits up to about the size
    heads = [build(e, dict(type=name), classes=50, dim=32, dtype=d) for e, d in ((DENSE, torch.float64), (engine, torch.float32))]
    for head in heads:
        head.weight.data.copy_(heads[1].weight)
        if name == 'CurricularFaceLoss':
            head.loss_module.s = size + abs(offset)  # z up to twice that
        else:
            head.bias.data.fill_(offset)
    assert_steps_agree(step(heads[1], x.float(), y), step(heads[0], x.float().double(), y), 2e-4)


def thresholded(v, s, threshold, norm):
    return s * torch.where(v > threshold, v * (1 + norm * v), v)


def soft_count(v, s, threshold, norm):
    return torch.sigmoid(s * (v - threshold)) * norm


def hard_count(v, threshold):
    return (v > threshold).to(v)


#: Statistics of all kinds, from the target and a learned scalar.
SPECS = dict(
    scale=lambda t, p: LogSumExp(8.),
    large_scale=lambda t, p: LogSumExp(900.),
    learned_scale=lambda t, p: LogSumExp(p),
    row_scale=lambda t, p: LogSumExp(p * (1 + t.similarity**2)),
    clamp=lambda t, p: LogSumExp(8., clamp=.3),
    clamp_and_large_scale=lambda t, p: LogSumExp(900., clamp=.3),
    clamp_and_learned_scale=lambda t, p: LogSumExp(p, clamp=.3),
    lse=lambda t, p: Elementwise('lse', thresholded, p, t.similarity * .4, t.feature_norm),
    sum=lambda t, p: Elementwise('sum', soft_count, 3., t.similarity, p * t.prototype_norm),
    without_slope=lambda t, p: Elementwise('sum', hard_count, t.similarity),
    nothing=lambda t, p: None)


class LossOfThisFile(FaceLoss):
    """Nobody has published it: asks for any statistic, and depends on all it is given."""

    def __init__(self, spec, features='unit', prototypes='unit', use_bias=False, num_classes=None):
        super().__init__(num_classes)
        self.spec, self.features, self.prototypes, self.use_bias = spec, features, prototypes, use_bias
        self.p = nn.Parameter(torch.tensor(3.))

    def prepare(self, t):
        return self.spec(t, self.p)

    def forward(self, t, S):
        rest = (t.similarity * self.p).sin() + t.feature_norm * .1 * t.prototype_norm
        return rest if S is None else rest + (S * .3).tanh()


@every_engine
@pytest.mark.parametrize('centers', [1, 3], ids=lambda k: f'{k}_centres')
@pytest.mark.parametrize(
    'similarities', [('unit', 'unit', False), ('unit', 'unit', True), ('raw', 'raw', True), ('raw', 'unit', False)], ids=str)
@pytest.mark.parametrize('spec', SPECS.values(), ids=list(SPECS))
def test_a_loss_that_exists_nowhere_else_works_in_every_engine(spec, similarities, centers, engine):
    features, prototypes, use_bias = similarities
    loss = dict(type=LossOfThisFile, spec=spec, features=features, prototypes=prototypes, use_bias=use_bias)
    expected, actual = (build(e, loss, num_centers=centers) for e in (DENSE, engine))
    assert_steps_agree(step(actual, *rows(length=2.)), step(expected, *rows(length=2.)), 1e-10)


def test_a_statistic_is_given_detached_to_the_loss_that_asks_for_one_first():
    seen = []

    class Asks(LossOfThisFile):

        def prepare(self, t):
            seen.append(t.statistic(LogSumExp(4.)))
            return LogSumExp(4.)

    results = [step(build(e, dict(type=Asks, spec=None)), *rows())[0] for e in (DENSE, *ENGINES.values())]
    assert len({s.requires_grad for s in seen}) == 1 and not seen[0].requires_grad
    for statistic, result in zip(seen[1:], results[1:], strict=True):
        torch.testing.assert_close(statistic, seen[0], rtol=1e-12, atol=0)
        torch.testing.assert_close(result['weight'], results[0]['weight'], rtol=0, atol=1e-12)


def mixed(prototypes, numbers):
    return prototypes * .8 + torch.sin(prototypes * numbers.unsqueeze(1))


@every_engine
@pytest.mark.parametrize('centers', [1, 2])
def test_prototypes_may_be_made_from_the_weight_a_few_at_a_time(centers, engine):
    loss = build(DENSE, dict(type='CosFaceLoss', s=8.)).loss_module
    x, y = rows()
    results = []
    for e in (DENSE, engine):
        weight = torch.randn(CLASSES * centers, DIM, generator=torch.Generator().manual_seed(3), dtype=torch.float64, requires_grad=True)
        target, statistic = MODELS.build(e)(x[y >= 0], y[y >= 0], weight, None, loss, centers, mix=mixed)
        gradient, = torch.autograd.grad(loss(target, statistic).sum(), weight)
        results.append((target.prototype_norm, statistic, gradient.to_dense()))
    torch.testing.assert_close(results[1], results[0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize('engine', [DENSE, *ENGINES.values()], ids=['dense', *ENGINES])
@pytest.mark.parametrize('name', ['NormFaceLoss', 'UniFaceLoss'])
def test_parts_of_the_classes_make_the_whole(name, engine):
    """What prototypes spread over ranks rest on: label -1 says that a row's class is elsewhere."""
    x, y = rows()
    x, y = x[y >= 0], y[y >= 0]
    head = build(engine, dict(type=name)).eval()
    target, whole = DenseEngine()(x, y, head.weight, None, head.loss_module)
    parts = []
    for low, high in ((0, 5), (5, CLASSES), (CLASSES, CLASSES)):
        inside = (y >= low) & (y < high)
        parts.append(head.engine(x, torch.where(inside, y - low, -1), head.weight[low:high], None, head.loss_module))
    for field in ('similarity', 'prototype_norm'):
        torch.testing.assert_close(sum(getattr(part, field) for part, _ in parts), getattr(target, field))
    statistics = torch.stack([statistic for _, statistic in parts])
    torch.testing.assert_close(statistics.logsumexp(0) if name == 'NormFaceLoss' else statistics.sum(0), whole)


#: Losses that say that they cannot be with so few classes.
REFUSED = [('AdaCosLoss', 1), ('AdaCosLoss', 2), ('SphereFace2Loss', 1)]


def hostile(kind):
    """Rows and prototypes ``[4, D]`` at the edges of what is allowed."""
    weight = torch.randn(4, DIM, generator=torch.Generator().manual_seed(2))
    x, y = rows(count=6, classes=4)
    if kind in ('one class', 'two classes'):
        classes = ('one class', 'two classes').index(kind) + 1
        return x, y.clamp_max(classes - 1), weight[:classes]
    if kind == 'one row':
        return x[:1], y[:1], weight
    if kind == 'no row that counts':
        return x, torch.full_like(y, -1), weight
    if kind == 'zero embedding':
        return x * torch.tensor([0., 1, 1, 1, 1, 1]).unsqueeze(1), y, weight
    if kind == 'zero prototype':
        return x, y, weight * torch.tensor([1., 0, 1, 1]).unsqueeze(1)
    sign = 1 if kind == 'cosine 1' else -1
    return sign * weight[y.clamp_min(0)] * 3, y, weight


@pytest.mark.parametrize('engine', ['store', 'recompute', 'sample_of_all'])
@pytest.mark.parametrize(
    'kind', ['one class', 'two classes', 'one row', 'no row that counts', 'zero embedding', 'zero prototype', 'cosine 1', 'cosine -1'])
@pytest.mark.parametrize('name', LOSSES)
def test_hostile_input_is_survived_as_the_plain_form_survives_it(name, kind, engine):
    x, y, weight = hostile(kind)
    try:
        heads = [build(e, dict(type=name), classes=len(weight), dtype=torch.float32) for e in (DENSE, ENGINES[engine])]
    except ValueError:
        assert (name, len(weight)) in REFUSED
        return
    for head in heads:
        head.weight.data.copy_(weight)
    (expected, _), (actual, state) = (step(head, x, y) for head in heads)
    assert all(value.isfinite() for key, value in state.items() if key != 'p_vg')  # NaN before the first batch
    for key, result in expected.items():
        assert result.isfinite().all(), f'dense {key}'
        assert actual[key].isfinite().all(), key
        torch.testing.assert_close(actual[key], result, rtol=2e-4, atol=2e-4)

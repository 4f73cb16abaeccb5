"""Products of rounded factors: what they are products of, and how far the results are from those in fp32."""
import pytest
import torch
from engines import build, rows, step

from mmface.models import FusedEngine
from mmface.models.engines.products import DTYPES, Products

CLASSES, DIM = 400, 64
#: Half a unit in the last place, relative: what rounding a factor changes in it at most.
ROUNDING = dict(bfloat16=2**-9, float16=2**-12)
LOSSES = ['CosFaceLoss', 'SoftmaxLoss', 'SphereFaceLoss', 'AdaFaceLoss', 'P2SGradLoss', 'CurricularFaceLoss', 'UniFaceLoss']
ENGINES = dict(
    store=dict(type='FusedEngine', mode='store', chunk_size=64),
    recompute=dict(type='FusedEngine', mode='recompute', chunk_size=64),
    sampled=dict(type='SampledEngine', ratio=.5, chunk_size=64))

every_dtype = pytest.mark.parametrize('dtype', DTYPES)


def head(engine, loss='CosFaceLoss', **arguments):
    """A head on prototypes near which some rows are, as in training: their softmax is neither flat nor certain."""
    head = build(engine, dict(type=loss, **arguments), CLASSES, DIM, torch.float32)
    head.weight.data.mul_(.05)
    return head


def batch(head, count=24):
    x, y = rows(count, CLASSES, DIM, length=1.)
    return x.float() * .1 + head.weight.detach()[y.clamp_min(0)] * .6, y


def relative(actual, expected):
    return float((actual - expected).norm() / expected.norm())


@every_dtype
def test_the_statistic_is_that_of_rounded_factors_and_summed_in_fp32(dtype):
    s = 64.
    rounded = head(dict(type='FusedEngine', compute_dtype=dtype))  # in one chunk: float16 is scaled by the peak of a chunk
    x, y = batch(rounded)
    x, y = x[y >= 0], y[y >= 0]
    _, statistic = rounded.engine(x, y, rounded.weight, None, rounded.loss_module)
    w, features = rounded.weight.detach(), torch.nn.functional.normalize(x) * s
    peak_w, peak_x = (t.abs().max() if dtype == 'float16' else 1 for t in (w, features))
    product = (features / peak_x).to(DTYPES[dtype]).double() @ (w / peak_w).to(DTYPES[dtype]).double().t() * peak_w * peak_x
    z = product / w.norm(dim=1).double()
    expected = z.scatter(1, y.unsqueeze(1), -torch.inf).logsumexp(1)
    torch.testing.assert_close(statistic.double(), expected, rtol=1e-5, atol=1e-5)


@every_dtype
@pytest.mark.parametrize('engine', ENGINES.values(), ids=list(ENGINES))
@pytest.mark.parametrize('name', LOSSES)
def test_results_are_near_those_in_fp32(name, engine, dtype):
    """Each factor of a product is off by up to ``ROUNDING``, a product of many by less: 2.7 times that, measured, in the gradients."""
    exact, rounded = head(engine, name), head(dict(engine, compute_dtype=dtype), name)
    x, y = batch(exact)
    expected, actual = step(exact, x, y)[0], step(rounded, x, y)[0]
    assert relative(actual['loss'], expected['loss']) < ROUNDING[dtype]
    for key in expected.keys() - {'loss'}:
        assert actual[key].dtype == torch.float32
        assert relative(actual[key], expected[key]) < 4 * ROUNDING[dtype], key


@every_dtype
def test_rounding_is_seen_at_all(dtype):
    exact, rounded = head(ENGINES['store']), head(dict(ENGINES['store'], compute_dtype=dtype))
    x, y = batch(exact)
    assert relative(step(rounded, x, y)[0]['weight'], step(exact, x, y)[0]['weight']) > ROUNDING[dtype] / 10


@every_dtype
def test_a_row_of_small_similarities_is_not_lost_beside_one_of_large_ones(dtype):
    exact, rounded = head(ENGINES['store'], 'SoftmaxLoss'), head(dict(ENGINES['store'], compute_dtype=dtype), 'SoftmaxLoss')
    x, y = rows(2, CLASSES, DIM, length=1.)
    x = x.float() * torch.tensor([[.01], [30.]])
    expected, actual = (step(h, x, y)[0]['embeddings'] for h in (exact, rounded))
    for row in range(2):
        assert relative(actual[row], expected[row]) < 8 * ROUNDING[dtype]


def test_numbers_beyond_the_range_of_float16_are_scaled_into_it():
    generator = torch.Generator().manual_seed(0)
    for size in (1e-6, 1e6):
        a, b = torch.randn(5, 7, generator=generator) * size, torch.randn(7, 3, generator=generator) * size
        assert relative(Products(torch.float16)(a, b), a @ b) < 2e-3
    total = torch.ones(5, 3)
    Products(torch.float16).add(total, torch.zeros(5, 7), torch.ones(7, 3))
    assert (total == 1).all()


def test_an_unknown_dtype_is_named():
    with pytest.raises(ValueError, match=r"FusedEngine: compute_dtype must be None or one of \['bfloat16', 'float16'\], got 'int8'"):
        FusedEngine(compute_dtype='int8')

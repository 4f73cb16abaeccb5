"""Margins on angles: exact inside, finite at the ends."""
import math

import pytest
import torch

from mmface.functional.angular import angle, cos_plus, cos_plus_easy, cos_plus_monotone, cos_times, exceeds, inner_cosine, straight_through

THETA = torch.linspace(.05, 3.1, 62, dtype=torch.float64)
FUNCTIONS = dict(
    angle=angle,
    cos_plus=lambda c: cos_plus(c, .5),
    cos_plus_monotone=lambda c: cos_plus_monotone(c, .5),
    cos_plus_easy=lambda c: cos_plus_easy(c, .5),
    cos_times=lambda c: cos_times(c, 4),
    cos_times_fraction=lambda c: cos_times(c, 1.7))


def test_margins_are_those_of_the_angles():
    cosine = THETA.cos()
    torch.testing.assert_close(angle(cosine), THETA)
    torch.testing.assert_close(cos_plus(cosine, .5), (THETA + .5).cos())
    margins = torch.linspace(-.5, .8, len(THETA), dtype=torch.float64)
    torch.testing.assert_close(cos_plus(cosine, margins), (THETA + margins).cos())
    plus = (THETA + .5).cos()
    torch.testing.assert_close(cos_plus_easy(cosine, .5), plus.where(cosine > 0, cosine))
    torch.testing.assert_close(cos_plus_monotone(cosine, .5), plus.where((THETA + .5).lt(math.pi), cosine - .5 * math.sin(.5)))


@pytest.mark.parametrize('factor', [1, 2, 3, 4, 1.5, 1.7])
def test_multiplied_angle_falls_without_a_jump(factor):
    theta = torch.linspace(0, math.pi, 20001, dtype=torch.float64)
    steps = cos_times(theta.cos(), factor).diff()
    assert (steps <= 1e-12).all()
    assert steps.min() > -1e-3
    torch.testing.assert_close(cos_times(THETA.cos(), factor)[THETA * factor < math.pi], (factor * THETA[THETA * factor < math.pi]).cos())


def test_monotone_margin_falls_everywhere():
    assert (cos_plus_monotone(torch.linspace(0, math.pi, 20001, dtype=torch.float64).cos(), .5).diff() < 1e-12).all()


@pytest.mark.parametrize('dtype', [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize('name', FUNCTIONS)
def test_gradient_is_finite_at_and_beyond_the_ends(name, dtype):
    eps = torch.finfo(dtype).eps
    cosine = torch.tensor([1., -1., 1 - eps, -1 + eps, 1 + 4 * eps, -1 - 4 * eps], dtype=dtype, requires_grad=True)
    value = FUNCTIONS[name](cosine)
    value.sum().backward()
    assert value.isfinite().all()
    assert cosine.grad.isfinite().all()
    assert (inner_cosine(cosine).abs() < 1).all()


def test_straight_through_has_the_value_of_one_and_the_slope_of_the_other():
    x = torch.tensor(.3, requires_grad=True)
    value = straight_through(x.cos(), of=5 * x)
    value.backward()
    assert value.item() == pytest.approx(math.cos(.3))
    assert x.grad.item() == 5


def test_exceeds_is_one_above_its_threshold_and_a_constant():
    value = torch.tensor([[.1, .5, -1.], [.5, .500001, 2.]], requires_grad=True)
    mask = exceeds(value, torch.tensor([.1, .5, 3.], requires_grad=True))
    assert mask.tolist() == [[0., 0., 0.], [1., 1., 0.]]
    assert mask.dtype == value.dtype and not mask.requires_grad

"""The logarithm of the Bessel function against SciPy's."""
import numpy as np
import pytest
import torch

from mmface.functional.bessel import log_bessel_i_over_power


@pytest.mark.parametrize('order', [0., .5, 1., 7., 31., 63.5, 127., 255.])
def test_value_and_slope_are_scipys(order):
    ive = pytest.importorskip('scipy.special').ive
    x = torch.logspace(-2, 4, 61, dtype=torch.float64, requires_grad=True)
    at = x.detach().numpy()
    representable = ive(order + 1, at) > 1e-290
    value = log_bessel_i_over_power(order, x)
    slope, = torch.autograd.grad(value.sum(), x)
    expected = np.log(ive(order, at), where=representable, out=np.zeros_like(at)) + at - order * np.log(at)
    np.testing.assert_allclose(value.detach().numpy()[representable], expected[representable], rtol=0, atol=1e-10)
    ratio = np.divide(ive(order + 1, at), ive(order, at), where=representable, out=np.zeros_like(at))
    np.testing.assert_allclose(slope.numpy()[representable], ratio[representable], rtol=1e-9)


def test_zero_is_no_singularity():
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    value = log_bessel_i_over_power(.5, x)
    value.backward()
    assert value.item() == pytest.approx(np.log(np.sqrt(2 / np.pi)))
    assert x.grad.item() == 0

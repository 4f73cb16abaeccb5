"""Every loss against worked float64 values."""
import pytest
import torch
from golden import GOLDEN, build_head, cases, gradients, loss_per_sample, state_after

from mmface.models import AdaFaceLoss, CurricularFaceLoss, GBCosFaceLoss
from mmface.registry import MODELS

#: SCF's has an input of its own and is tested with its head.
every_case = pytest.mark.parametrize('case, inputs', cases(lambda case: not case['id'].startswith('scf')))
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5}


@pytest.mark.parametrize('dtype', TOLERANCE, ids=str)
@every_case
def test_value_gradients_and_state_are_the_worked_ones(case, inputs, dtype):
    head, x = build_head(case, inputs, dtype)
    y = torch.tensor(inputs['y'])
    tolerance = TOLERANCE[dtype]

    loss = head.compute_loss(x, y)['loss']
    loss.backward()
    assert loss.item() == pytest.approx(case['loss'], rel=tolerance)
    largest = max(float(value.abs().max()) for _, value in gradients(case, head, x))
    for computed, expected in gradients(case, head, x):
        assert float((computed - expected).abs().max()) <= tolerance * largest
    for name, expected in state_after(case).items():
        assert head.loss_module.get_buffer(name).item() == pytest.approx(expected, rel=tolerance)


@every_case
def test_loss_per_sample_is_the_worked_one(case, inputs):
    head, x = build_head(case, inputs)
    loss = head.compute_loss(x, torch.tensor(inputs['y']), reduction='none')['loss']
    torch.testing.assert_close(loss, loss_per_sample(case, x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize('case, inputs', cases(lambda case: 'bias_init' in case))
def test_learned_bias_starts_where_the_authors_start_it(case, inputs):
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        bias = build_head(case, inputs, set_bias=False)[0].loss_module.bias
    finally:
        torch.set_default_dtype(default)
    assert bias.item() == pytest.approx(case['bias_init'], rel=1e-12)


# The same input with a value of each loss, so that the core is tested where the reference material is absent.
X = [[1.5, -2., .75], [10., 7.5, -6.25], [-22., 30.5, 12.], [64., -80., 72.]]
W = [[.5, -1., .25], [1.25, .5, -.75], [-.5, .75, 1.], [.25, .5, -1.5], [-1., 1.25, -.875]]
Y = [0, 1, 2, 4]
SHORT = [
    ('SoftmaxLoss', dict(), 90.2169960219399),
    ('NormFaceLoss', dict(s=4.), 2.106252517115976),
    ('COCOLoss', dict(alpha=6.25), 3.0868519573355266),
    ('LSoftmaxLoss', dict(m=3, lam=5.), 129.7605467004602),
    ('SphereFaceLoss', dict(m=4, lam=5.), 90.92907253200606),
    ('CosFaceLoss', dict(s=4., m=.35), 2.8154186494972717),
    ('ArcFaceLoss', dict(s=4., m=.5), 2.6241241470624996),
    ('ArcFaceLoss', dict(s=4., m=.5, beyond_pi='none'), 2.316630396701851),
    ('CombinedMarginLoss', dict(s=4., m1=.9, m2=.4, m3=.15), 2.6039293663221543),
    ('P2SGradLoss', dict(), 1.0756297941961375),
    ('AdaFaceLoss', dict(s=4.), 3.031021400670615),
    ('MagFaceLoss', dict(s=4.), 4.330855827668936),
    ('MVSoftmaxLoss', dict(), 22.298532339264952),
    ('GBCosFaceLoss', dict(), 19.52353166445519),
    ('CurricularFaceLoss', dict(s=4.), 2.4818628354699793),
    ('UniFaceLoss', dict(s=4.), 2.788753006381965),
    ('SphereFace2Loss', dict(), 22.973436140013877),
    ('SphereFace2Loss', dict(kind='M', m=1.7, lw=10.), 3.1946817876284483),
    ('SphereFaceRLoss', dict(lw=50.), 24.04801309645721),
    ('SphereFaceRLoss', dict(version='v2', s=60., m=1.4, lw=50.), 24.35766389458915),
]


@pytest.mark.parametrize('type_, arguments, expected', SHORT, ids=lambda value: value if isinstance(value, str) else '')
def test_known_values_hold_without_the_reference_material(type_, arguments, expected):
    head = MODELS.build(dict(type='FaceClsHead', num_classes=5, in_channels=3, loss=dict(type=type_, **arguments))).double()
    head.weight.data.copy_(torch.tensor(W))
    loss = head.compute_loss(torch.tensor(X).double(), torch.tensor(Y))['loss'].item()
    assert loss == pytest.approx(expected, rel=5e-8)  # learned biases start as fp32 numbers


needs_ema = pytest.mark.skipif(not GOLDEN['ema'], reason='needs golden_losses.json, which is no part of the project')


@needs_ema
def test_adaface_statistics_follow_the_worked_sequence():
    loss = AdaFaceLoss().double()
    ema = GOLDEN['ema']['adaface']
    for norms, step in zip(ema['norms'], ema['steps'], strict=True):
        quality = loss._quality(torch.tensor(norms, dtype=torch.float64))
        assert loss.norm_mean.item() == pytest.approx(step['batch_mean'], rel=1e-12)
        assert loss.norm_std.item() == pytest.approx(step['batch_std'], rel=1e-12)
        assert quality.tolist() == pytest.approx(step['z_hat'], rel=1e-9)


@needs_ema
def test_curricularface_t_follows_the_worked_sequence(target):
    loss = CurricularFaceLoss().double()
    ema = GOLDEN['ema']['curricular']
    for mean, t in zip(ema['mean_target_cos'], ema['t'], strict=True):
        loss.prepare(target([mean - .1, mean + .1]))
        assert loss.t.item() == pytest.approx(t, rel=1e-12)


@needs_ema
def test_gb_cosface_boundary_follows_the_worked_sequence():
    loss = GBCosFaceLoss().double()
    loss.p_vg.fill_(.31)
    ema = GOLDEN['ema']['gb_cosface']
    for mean, step in zip(ema['batch_mean_p_hat'], ema['steps'], strict=True):
        used = loss._global_boundary(torch.tensor([mean - .1, mean + .1], dtype=torch.float64))
        assert used.item() == pytest.approx(step['used'], rel=1e-12)
        assert loss.p_vg.item() == pytest.approx(step['after'], rel=1e-12)

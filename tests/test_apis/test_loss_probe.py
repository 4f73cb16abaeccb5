"""A loss asked at chosen angles says what the papers' formulas say."""
import json
import math
import re

import numpy as np
import pytest
import torch

from mmface.apis.lab import LossProbe, boundary_angle, boundary_on_sphere, loss_name, parse_loss
from mmface.models import FaceLoss, LogSumExp
from mmface.registry import MODELS

RIGHT = math.pi / 2


@pytest.fixture(scope='module')
def golden(shared):
    return json.loads((shared / 'reference/golden_losses.json').read_text())['curves']


def adaface(z, clip):
    """z from -1 to 1, by the statistics."""
    return dict(type='AdaFaceLoss', m=.4, h=1., clip=clip, norm=20., state=dict(norm_mean=20. - z, norm_std=.999 if clip else 1.))


LOSSES = {
    'softmax': dict(type='NormFaceLoss', s=64.),
    'normface_s64': dict(type='NormFaceLoss', s=64.),
    'cosface_s64': dict(type='CosFaceLoss'),
    'cosface_m0.3': dict(type='CosFaceLoss', m=.3),
    'cosface_m0.35': dict(type='CosFaceLoss', m=.35),
    'cosface_m0.4': dict(type='CosFaceLoss', m=.4),
    'arcface_m0.5': dict(type='ArcFaceLoss', m=.5),
    'arcface_s64_m0_5': dict(type='ArcFaceLoss', m=.5),
    'arcface_s64_m0_3': dict(type='ArcFaceLoss', m=.3),
    'combined_s64_0_9_0_4_0_15': dict(type='CombinedMarginLoss', m1=.9, m2=.4, m3=.15),
    **{f'magface_a{a}': dict(type='MagFaceLoss', lambda_g=0., norm=float(a)) for a in (10, 60, 110)},
    **{f'adaface_code_m0.4_z{z:g}': adaface(z, clip=True) for z in (-1, -.5, 0, .5, 1)},
    **{f'adaface_m0.4_z{z:g}': adaface(z, clip=False) for z in (-1, -.5, 0, .5, 1)},
    **{f'curricular_m0.5_t{t:g}': dict(type='CurricularFaceLoss', state=dict(t=t)) for t in (0, .5, 1)},
    'p2sgrad': dict(type='P2SGradLoss'),
    **{f'gbcosface_s32_m0.16_a{a:g}': dict(type='GBCosFaceLoss', alpha=a, state=dict(p_vg=.62)) for a in (0, .15, 1)},
    **{f'gbcosface_pvg0.62_m0.15_a{a:g}': dict(type='GBCosFaceLoss', m=.15, alpha=a, state=dict(p_vg=.62)) for a in (0, .2, .5, 1)},
}


def test_probabilities_are_those_of_the_p2sgrad_text(golden):
    angle = torch.tensor(golden['theta'], dtype=torch.float64)
    for name, expected in golden['prob_target_others_at_90deg'].items():
        classes, s, m = map(float, re.fullmatch(r'C(\d+)_s([\d.]+)_m([\d.]+)_arc', name).groups())
        found = LossProbe(dict(type='ArcFaceLoss', s=s, m=m))(angle.cos(), torch.zeros(len(angle), 1), classes - 1)
        np.testing.assert_allclose(1 - found.wrong, expected, rtol=1e-9, atol=1e-15, err_msg=name)


def test_slopes_are_the_published_ones(golden):
    angle = torch.tensor(golden['theta'], dtype=torch.float64)
    for name, expected in golden['grad_f_over_theta'].items():
        if 'minus' not in name:  # no loss of ours has a negative margin
            found = LossProbe(LOSSES[name])(angle.cos(), torch.zeros(len(angle), 1), 999)
            np.testing.assert_allclose(found.slope, expected, rtol=1e-9, err_msg=name)


def test_scaling_terms_in_the_plane_are_the_published_ones(golden):
    angle = torch.tensor(golden['theta'], dtype=torch.float64)
    checked = 0
    for name, expected in golden['gst_binary_phi90'].items():
        if name != 'arcface_m-0.5':
            found = LossProbe(LOSSES[name])(angle.cos(), (RIGHT - angle).cos().unsqueeze(1))
            np.testing.assert_allclose(found.scaling, expected, rtol=1e-6, atol=1e-9, err_msg=name)
            checked += 1
    assert checked == 23


def test_p2sgrads_length_is_one_minus_the_cosine(golden):
    angle = torch.tensor(golden['theta'], dtype=torch.float64)
    found = LossProbe(LOSSES['p2sgrad'])(angle.cos(), torch.zeros(len(angle), 1), 10)
    np.testing.assert_allclose(-found.scaling, golden['p2sgrad_length'], rtol=1e-12)
    assert found.slope.isnan().all()


@pytest.mark.parametrize('degrees', [60, 90])
def test_boundaries_are_the_published_ones(golden, degrees):
    for name, expected in golden['decision_boundary_theta_rad'][f'phi{degrees}deg'].items():
        found = boundary_angle(LossProbe(LOSSES[name]), math.radians(degrees))
        assert math.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize('alpha', [0., .2, .5, 1.])
def test_gb_cosfaces_boundary_on_the_sphere_is_a_circle(alpha):
    apart = math.radians(60)
    lines = boundary_on_sphere(LossProbe(LOSSES[f'gbcosface_pvg0.62_m0.15_a{alpha:g}']), apart, 1)
    points = np.concatenate(lines)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-12)
    first, second = (np.array([math.cos(apart / 2), side * math.sin(apart / 2), 0]) for side in (-1, 1))
    normal = (1 + alpha) / 2 * first - (1 - alpha) / 2 * second
    np.testing.assert_allclose(points @ normal, alpha * .62 + .15, atol=1e-4)  # drawn on a grid of one degree
    mirrored = np.concatenate(boundary_on_sphere(LossProbe(LOSSES[f'gbcosface_pvg0.62_m0.15_a{alpha:g}']), apart, 2))
    np.testing.assert_allclose(mirrored @ (normal * [1, -1, 1]), alpha * .62 + .15, atol=1e-4)


def test_losses_that_judge_each_class_for_itself_have_no_boundary():
    for name in ('P2SGradLoss', 'UniFaceLoss'):
        with pytest.raises(ValueError, match=f'{name} judges each class for itself'):
            boundary_angle(LossProbe(dict(type=name)), 1.)


def test_a_loss_written_tomorrow_has_its_curves():

    class TomorrowsLoss(FaceLoss):
        """Softmax with a logit of its own."""

        def prepare(self, t):
            return LogSumExp(10.)

        def forward(self, t, S):
            return torch.nn.functional.softplus(S - 10 * t.similarity**3)

    MODELS.register_module(module=TomorrowsLoss)
    try:
        cosine = torch.linspace(.1, .9, 9).double()
        found = LossProbe(dict(type='TomorrowsLoss'))(cosine, torch.zeros(9, 1), 9)
    finally:
        MODELS.module_dict.pop('TomorrowsLoss')
    np.testing.assert_allclose(found.slope, 30 * cosine**2)
    np.testing.assert_allclose(1 - found.wrong, 1 / (1 + 9 * torch.exp(-10 * cosine**3)))
    np.testing.assert_allclose(found.negative, 10 * found.wrong)


def test_what_is_no_loss_is_said():
    assert parse_loss('dict(type="AdaFaceLoss", m=-.3, state=dict(t=1.))') == dict(type='AdaFaceLoss', m=-.3, state=dict(t=1.))
    for text in ('dict(m=1)', 'dict(type="X", m=open("a"))', '__import__("os")', 'dict(type=', 'a b'):
        with pytest.raises(ValueError, match='is no loss'):
            parse_loss(text)
    with pytest.raises(ValueError, match=r"CosFaceLoss has no state 't'; it has none"):
        LossProbe(dict(type='CosFaceLoss', state=dict(t=1.)))
    assert loss_name(dict(type='GBCosFaceLoss', alpha=.2, state=dict(p_vg=.62))) == 'GBCosFaceLoss (alpha 0.2, p_vg 0.62)'

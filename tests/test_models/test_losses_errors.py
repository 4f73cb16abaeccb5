"""Impossible hyper-parameters raise, with a message that says which and what would be possible."""
import pytest

import mmface.models  # noqa: F401  (registers the losses)
from mmface.registry import MODELS


@pytest.mark.parametrize('name, arguments, message', [
    ('NormFaceLoss', dict(s=0.), 's must be greater than 0, got 0.0'),
    ('ArcFaceLoss', dict(s=-64.), 's must be greater than 0'),
    ('ArcFaceLoss', dict(beyond_pi='wrap'), r"beyond_pi must be one of \['clip', 'easy', 'monotone', 'none'\], got 'wrap'"),
    ('ArcFaceLoss', dict(clip_eps=0.), 'clip_eps must be greater than 0'),
    ('CombinedMarginLoss', dict(m1=0.), 'm1 must be greater than 0'),
    ('LSoftmaxLoss', dict(m=2.5), 'm must be a whole number of at least 1, got 2.5'),
    ('SphereFaceLoss', dict(m=0), 'SphereFaceLoss: m must be a whole number'),
    ('SphereFaceLoss', dict(lam=-1.), 'lam must not be negative'),
    ('SphereFaceLoss', dict(lam=dict(base=1000.)), 'lam is a number or a dict of base, gamma, power and min'),
    ('P2SGradLoss', dict(reduction='sum'), 'reduction must be one of'),
    ('P2SGradLoss', dict(reduction='mse', num_classes=None), 'needs num_classes'),
    ('GBCosFaceLoss', dict(alpha=1.5), r'alpha must lie in \[0, 1\]'),
    ('GBCosFaceLoss', dict(clamp=(.7, .5)), 'clamp is'),
    ('AdaFaceLoss', dict(momentum=1.5), 'momentum'),
    ('AdaFaceLoss', dict(h=-1.), 'h must not be negative'),
    ('MagFaceLoss', dict(l_a=110., u_a=10.), 'l_a < u_a, got l_a=110.0, u_a=10.0'),
    ('MagFaceLoss', dict(l_a=10., u_a=10.), 'l_a < u_a'),
    ('MagFaceLoss', dict(l_a=0.), 'l_a must be greater than 0'),
    ('MagFaceLoss', dict(lambda_g=-1.), 'lambda_g must not be negative'),
    ('CurricularFaceLoss', dict(momentum=0.), 'momentum must be greater than 0'),
    ('CurricularFaceLoss', dict(momentum=2.), 'momentum'),
    ('MVSoftmaxLoss', dict(kind='cos'), r"kind must be one of \['am', 'arc'\]"),
    ('MVSoftmaxLoss', dict(w=.5), 'w must be at least 1'),
    ('ElasticFaceLoss', dict(std=-.1), 'std must not be negative'),
    ('ElasticFaceLoss', dict(kind='am'), r"kind must be one of \['arc', 'cos'\]"),
    ('SphereFaceRLoss', dict(version='v3'), r"version must be one of \['v0', 'v1', 'v2'\]"),
    ('SphereFaceRLoss', dict(lw=0.), 'lw must be greater than 0'),
    ('SphereFace2Loss', dict(lam=1.), r'lam must lie in \(0, 1\)'),
    ('SphereFace2Loss', dict(kind='B'), r"kind must be one of \['A', 'C', 'M'\]"),
    ('SphereFace2Loss', dict(num_classes=1), 'at least 2 classes, got num_classes=1'),
    ('UniFaceLoss', dict(r=2.), r'r is a share of the negatives, in \(0, 1\], got 2.0'),
    ('UniFaceLoss', dict(l=0.), 'l must be greater than 0'),
    ('SCFLoss', dict(dim=1), 'dim must be at least 2'),
])
def test_impossible_value_is_named(name, arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        MODELS.build(dict(type=name, **dict(dict(num_classes=5), **arguments)))
    assert name in str(caught.value)


@pytest.mark.parametrize('name', ['AdaCosLoss', 'SphereFace2Loss', 'UniFaceLoss'])
def test_loss_that_counts_the_classes_asks_for_their_number(name):
    with pytest.raises(ValueError, match=f'{name} needs num_classes, which a head fills in'):
        MODELS.build(dict(type=name))

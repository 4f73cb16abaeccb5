"""Norm, angle, P and scaling term of single samples, against the published formulas on plain arrays."""
import numpy as np
import pytest
import torch
from scipy.special import log_softmax

from mmface.apis.lab.sample_responses import ask_head
from mmface.registry import MODELS

C, D, N = 7, 5, 90


@pytest.fixture(scope='module')
def rows():
    rng = np.random.default_rng(0)
    return 3 * rng.normal(size=(N, D)), rng.integers(C, size=N)


def ask(rows, loss, **kwargs):
    head = MODELS.build(dict(type='FaceClsHead', num_classes=C, in_channels=D, loss=loss, init_std=1., **kwargs))
    return ask_head(head, torch.from_numpy(rows[0]), torch.from_numpy(rows[1])), head


def cosines(rows, head):
    x, w = rows[0], head.weight.detach().numpy()
    cosine = (x / np.linalg.norm(x, axis=1, keepdims=True)) @ (w / np.linalg.norm(w, axis=1, keepdims=True)).T
    return cosine.reshape(N, C, -1).max(2)


def softmax_of(logits, labels):
    return np.exp(log_softmax(logits, axis=1)[np.arange(N), labels])


def test_cosface_has_the_scaling_term_p_minus_1_times_s(rows):
    found, head = ask(rows, dict(type='CosFaceLoss', s=8., m=.3))
    cosine, own = cosines(rows, head), (np.arange(N), rows[1])
    np.testing.assert_allclose(found.norm, np.linalg.norm(rows[0], axis=1))
    np.testing.assert_allclose(found.angle, np.degrees(np.arccos(cosine[own])), rtol=1e-9)
    logits = 8 * cosine
    logits[own] -= 8 * .3
    probability = softmax_of(logits, rows[1])
    np.testing.assert_allclose(found.probability, probability, rtol=1e-9)
    np.testing.assert_allclose(found.scaling, (probability - 1) * 8, rtol=1e-9)


def test_arcface_with_several_centres_has_its_published_scaling_term(rows):
    found, head = ask(rows, dict(type='ArcFaceLoss', s=8., m=.2), num_centers=3)
    cosine, own = cosines(rows, head), (np.arange(N), rows[1])
    theta = np.arccos(cosine[own])
    assert theta.max() < np.pi - .2
    logits = 8 * cosine
    logits[own] = 8 * np.cos(theta + .2)
    probability = softmax_of(logits, rows[1])
    np.testing.assert_allclose(found.probability, probability, rtol=1e-9)
    np.testing.assert_allclose(found.scaling, (probability - 1) * 8 * np.sin(theta + .2) / np.sin(theta), rtol=1e-9)


def test_lengths_and_biases_of_a_plain_softmax_are_no_part_of_the_angle(rows):
    head = MODELS.build(dict(type='FaceClsHead', num_classes=C, in_channels=D, loss=dict(type='SoftmaxLoss'), init_std=.5))
    with torch.no_grad():
        head.bias.copy_(torch.linspace(-1, 1, C))
    found = ask_head(head, torch.from_numpy(rows[0]), torch.from_numpy(rows[1]))
    weight, bias = head.weight.detach().numpy(), head.bias.detach().numpy()
    probability = softmax_of(rows[0] @ weight.T + bias, rows[1])
    np.testing.assert_allclose(found.angle, np.degrees(np.arccos(cosines(rows, head)[np.arange(N), rows[1]])), rtol=1e-9)
    np.testing.assert_allclose(found.probability, probability, rtol=1e-8)
    lengths = np.linalg.norm(rows[0], axis=1) * np.linalg.norm(weight, axis=1)[rows[1]]
    np.testing.assert_allclose(found.scaling, (probability - 1) * lengths, rtol=1e-9)


def test_a_loss_without_softmax_has_no_probability(rows):
    found, head = ask(rows, dict(type='P2SGradLoss'))
    assert np.isnan(found.probability).all()
    np.testing.assert_allclose(found.scaling, cosines(rows, head)[np.arange(N), rows[1]] - 1, rtol=1e-9)


def test_adaface_s_margin_depends_on_the_norm_and_its_statistics_stay(rows):
    found, head = ask(rows, dict(type='AdaFaceLoss', s=8., m=.4, h=1.))
    loss = head.loss_module
    assert (loss.norm_mean, loss.norm_std) == (20, 100)
    z = (found.norm - 20) / (100 + 1e-3)
    theta, cosine = np.radians(found.angle), cosines(rows, head)
    logits = 8 * cosine
    logits[np.arange(N), rows[1]] = 8 * (np.cos(theta - .4 * z) - .4 * z - .4)
    np.testing.assert_allclose(found.probability, softmax_of(logits, rows[1]), rtol=1e-6)  # buffers were float32


def test_what_cannot_be_asked_is_named(rows):
    broken = rows[0].copy()
    broken[[3, 5], 0] = np.nan
    with pytest.raises(ValueError, match='2 of 90 embeddings are not finite'):
        ask((broken, rows[1]), dict(type='CosFaceLoss'))
    head = MODELS.build(dict(type='SCFHead', num_classes=C, in_channels=D, feat_channels=8))
    with pytest.raises(ValueError, match='SCFHead judges feature maps'):
        ask_head(head, torch.from_numpy(rows[0]), torch.from_numpy(rows[1]))

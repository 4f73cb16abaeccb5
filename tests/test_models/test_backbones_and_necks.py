"""Backbones and necks against their published structure, written a second time as plain functions of a state dict."""
import pytest
import torch
import torch.nn.functional as F

from mmface.models import FaceNeck, GDCNeck, IResNet, MobileFaceNet

UNITS = {18: (2, 2, 2, 2), 50: (3, 4, 14, 3)}


def shaken(*modules: torch.nn.Module, seed: int = 0) -> tuple[torch.nn.Module, ...]:
    """The modules in eval mode, every parameter and statistic random: so that leaving one out shows."""
    generator = torch.Generator().manual_seed(seed)
    for module in modules:
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                noise = torch.rand(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.dtype)
                tensor.copy_(noise - .5 if tensor.dim() > 1 else noise + .5)
        module.double().eval()
    return modules


def batch_norm(p: dict, name: str, x: torch.Tensor) -> torch.Tensor:
    return F.batch_norm(x, p[f'{name}.running_mean'], p[f'{name}.running_var'], p[f'{name}.weight'], p[f'{name}.bias'], eps=1e-5)


def iresnet_of_insightface(p: dict, x: torch.Tensor, depth: int) -> torch.Tensor:
    """The published forward pass, with the published parameter names."""
    x = F.prelu(batch_norm(p, 'bn1', F.conv2d(x, p['conv1.weight'], padding=1)), p['prelu.weight'])
    for stage, units in enumerate(UNITS[depth], 1):
        for unit in range(units):
            name, stride, identity = f'layer{stage}.{unit}', 2 if unit == 0 else 1, x
            x = F.conv2d(batch_norm(p, f'{name}.bn1', x), p[f'{name}.conv1.weight'], padding=1)
            x = F.prelu(batch_norm(p, f'{name}.bn2', x), p[f'{name}.prelu.weight'])
            x = batch_norm(p, f'{name}.bn3', F.conv2d(x, p[f'{name}.conv2.weight'], stride=stride, padding=1))
            if unit == 0:
                identity = batch_norm(p, f'{name}.downsample.1', F.conv2d(identity, p[f'{name}.downsample.0.weight'], stride=2))
            x = x + identity
    x = batch_norm(p, 'bn2', x)
    return batch_norm(p, 'features', F.linear(x.flatten(1), p['fc.weight'], p['fc.bias']))


@pytest.mark.parametrize('depth', [18, 50])
def test_iresnet_and_its_neck_compute_the_published_network_after_renaming(depth):
    backbone, neck = shaken(IResNet(depth), FaceNeck())
    published = dict(backbone.state_dict())
    for theirs, ours in dict(bn2='map_norm', fc='fc', features='norm').items():
        published.update({f'{theirs}.{k.split(".", 1)[1]}': v for k, v in neck.state_dict().items() if k.split('.')[0] == ours})
    images = torch.rand(2, 3, 112, 112, dtype=torch.float64)
    expected = iresnet_of_insightface(published, images, depth)
    torch.testing.assert_close(neck(backbone(images)[-1]), expected, rtol=1e-9, atol=float(expected.abs().max()) * 1e-12)


@pytest.mark.parametrize(('depth', 'millions', 'entries'), [(18, 24.03, 187), (50, 43.59, 475), (100, 65.16, 925)])
def test_iresnet_has_the_published_number_of_parameters_and_state_entries(depth, millions, entries):
    with torch.device('meta'):
        parts = IResNet(depth), FaceNeck()
    assert sum(p.numel() for part in parts for p in part.parameters()) / 1e6 == pytest.approx(millions, abs=.1)
    assert sum(len(part.state_dict()) for part in parts) == entries


def mobilefacenet_of_the_paper(p: dict, x: torch.Tensor) -> torch.Tensor:
    """Table 1 of the paper, layer by layer; ``p`` is consumed in the order of the layers, so names do not matter."""
    values = iter(v for k, v in p.items() if 'num_batches_tracked' not in k)

    def conv(x, kernel, stride=1, depthwise=False, activation=True):
        weight, gain, bias, mean, var = (next(values) for _ in range(5))
        x = F.conv2d(x, weight, stride=stride, padding=kernel // 2, groups=x.shape[1] if depthwise else 1)
        x = F.batch_norm(x, mean, var, gain, bias, eps=1e-5)
        return F.prelu(x, next(values)) if activation else x

    x = conv(conv(x, 3, stride=2), 3, depthwise=True)
    for channels, repeats, first_stride in ((64, 5, 2), (128, 1, 2), (128, 6, 1), (128, 1, 2), (128, 2, 1)):
        for unit in range(repeats):
            stride = first_stride if unit == 0 else 1
            out = conv(conv(conv(x, 1), 3, stride, depthwise=True), 1, activation=False)
            x = out + x if stride == 1 and x.shape[1] == channels else out
    return conv(x, 1)


def test_mobilefacenet_computes_the_table_of_its_paper():
    backbone, = shaken(MobileFaceNet())
    images = torch.rand(2, 3, 112, 112, dtype=torch.float64)
    expected = mobilefacenet_of_the_paper(backbone.state_dict(), images)
    assert expected.shape == (2, 512, 7, 7)
    torch.testing.assert_close(backbone(images)[-1], expected, rtol=1e-9, atol=float(expected.abs().max()) * 1e-12)


def test_mobilefacenet_with_its_neck_has_the_papers_million_parameters():
    assert sum(p.numel() for part in (MobileFaceNet(), GDCNeck()) for p in part.parameters()) / 1e6 == pytest.approx(.99, abs=.02)


def test_width_and_stem_stride_change_channels_and_map_size_only():
    narrow = MobileFaceNet(width=.5, out_channels=64, stem_stride=1)
    assert narrow(torch.rand(1, 3, 56, 56))[-1].shape == (1, 64, 7, 7)
    assert narrow.stem[0].out_channels == 32


def test_gdc_neck_is_a_weighted_mean_over_positions_then_a_linear_map():
    neck, = shaken(GDCNeck(8, 7, 4))
    maps = torch.rand(3, 8, 7, 7, dtype=torch.float64)
    p = neck.state_dict()
    pooled = torch.stack([(maps[:, c] * p['pool.weight'][c, 0]).sum((1, 2)) for c in range(8)], 1)
    expected = batch_norm(p, 'norm', batch_norm(p, 'pool_norm', pooled) @ p['fc.weight'].t())
    torch.testing.assert_close(neck(maps), expected)


def test_the_gain_of_the_last_norm_is_not_trained():
    assert not FaceNeck().norm.weight.requires_grad
    assert FaceNeck().norm.bias.requires_grad


def test_dropout_acts_in_training_only():
    neck = FaceNeck(4, 2, 8, dropout=.5)
    maps = torch.rand(16, 4, 2, 2)
    neck.norm.momentum = neck.map_norm.momentum = 0.
    assert not torch.equal(neck(maps.clone()), neck(maps.clone()))
    neck.eval()
    assert torch.equal(neck(maps.clone()), neck(maps.clone()))


def test_an_unknown_depth_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match='18, 34, 50, 100, 200'):
        IResNet(101)

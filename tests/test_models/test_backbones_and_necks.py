"""Backbones and necks against their published structure, written a second time as plain functions of a state dict."""
import math

import pytest
import torch
import torch.nn.functional as F

from mmface.models import EdgeFace, FaceNeck, GDCNeck, InceptionResNet, IResNet, MobileFaceNet, PoolNeck, SevenLayerNet, ViTNeck
from mmface.models.backbones.iresnet import DEPTHS
from mmface.models.low_rank_linear import LowRankLinear

UNITS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}


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


@pytest.mark.parametrize('depth', [18, 34])
def test_iresnet_and_its_neck_compute_the_published_network_after_renaming(depth):
    backbone, neck = shaken(IResNet(depth), FaceNeck(feat_size=4))
    published = dict(backbone.state_dict())
    for theirs, ours in dict(bn2='map_norm', fc='fc', features='norm').items():
        published.update({f'{theirs}.{k.split(".", 1)[1]}': v for k, v in neck.state_dict().items() if k.split('.')[0] == ours})
    images = torch.rand(2, 3, 64, 64, dtype=torch.float64)
    expected = iresnet_of_insightface(published, images, depth)
    torch.testing.assert_close(neck(backbone(images)[-1]), expected, rtol=1e-9, atol=float(expected.abs().max()) * 1e-12)


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
    with pytest.raises(ValueError, match='18, 34, 50, 100, 152, 200'):
        IResNet(101)
    with pytest.raises(ValueError, match=r'152, 200\] with bottleneck=True'):
        IResNet(50, bottleneck=True)


@pytest.mark.parametrize('side', [56, 63, 112, 113, 144, 224])
@pytest.mark.parametrize('switches', [dict(), dict(subsample_shortcut=True, se=True, mid_norm=False), dict(bottleneck=True)],
                         ids=['basic', 'subsample-se', 'bottleneck'])
def test_the_map_is_a_sixteenth_of_any_side_rounded_up(side, switches, monkeypatch):
    for depths in DEPTHS.values():
        monkeypatch.setitem(depths, 152, (2, 1, 1, 1))
    with torch.device('meta'):
        backbone = IResNet(152, **switches)
        maps, = backbone(torch.empty(2, 3, side, side + 7))
        assert maps.shape == (2, backbone.out_channels, math.ceil(side / 16), math.ceil((side + 7) / 16))
        embedding = FaceNeck(backbone.out_channels, tuple(maps.shape[2:]))(maps)
    assert embedding.shape == (2, 512)


def test_a_map_of_another_size_than_the_neck_was_told_is_an_error():
    with pytest.raises(RuntimeError, match='shapes cannot be multiplied'):
        FaceNeck(4, 7, 8)(torch.rand(2, 4, 8, 8))


def test_mobilefacenets_switches_change_what_they_say():
    with torch.device('meta'):
        wide = MobileFaceNet(width=2, inner_width=1)
        assert wide.stem[3].groups == 64 and wide.stem[3].out_channels == 128
        assert wide.stages[0][0].out_channels == 128 and wide.stages[0][6].out_channels == 128
        assert len(MobileFaceNet(units=(2, 3, 1)).stages) == 2 + 1 + 3 + 1 + 1
        assert not any(isinstance(module, torch.nn.PReLU) for module in MobileFaceNet(relu6=True).modules())
        assert MobileFaceNet(separable_stem=True).stem[6].kernel_size == (1, 1)
        assert MobileFaceNet(stem_units=2)(torch.empty(1, 3, 56, 56))[-1].shape == (1, 512, 4, 4)
    with pytest.raises(ValueError, match='multiple of inner_width'):
        MobileFaceNet(width=1.5, inner_width=1)
    with pytest.raises(ValueError, match='leaves no channel'):
        MobileFaceNet(width=.001)


@pytest.mark.parametrize(('side', 'mapped'), [(75, 1), (112, 2), (144, 3), (160, 3), (299, 8)])
def test_inception_resnet_takes_the_sizes_of_its_papers(side, mapped):
    with torch.device('meta'):
        assert InceptionResNet()(torch.empty(2, 3, side, side))[-1].shape == (2, 1792, mapped, mapped)


def test_a_side_of_74_is_too_small_for_inception_resnet():
    with pytest.raises(RuntimeError, match=r'too small|greater than'):
        InceptionResNet()(torch.rand(1, 3, 74, 74))


def test_the_seven_layer_net_has_seven_layers_and_three_dimensions():
    network = SevenLayerNet()
    assert sum(isinstance(module, torch.nn.Conv2d | torch.nn.Linear) for module in network.modules()) == 7
    assert network(torch.rand(2, 3, 112, 112))[-1].shape == (2, 3)
    assert SevenLayerNet(2, feat_size=(4, 3), width=4)(torch.rand(2, 3, 32, 24))[-1].shape == (2, 2)


def test_pool_neck_takes_maps_of_any_size_and_vectors_and_is_linear_in_their_mean():
    neck, = shaken(PoolNeck(6, 4, bias=True, norm=False))
    maps = torch.rand(3, 6, 5, 2, dtype=torch.float64)
    expected = torch.einsum('bcyx,dc->bd', maps, neck.fc.weight) / 10 + neck.fc.bias
    torch.testing.assert_close(neck(maps), expected)
    torch.testing.assert_close(neck(maps.mean((2, 3))), expected)


def test_a_low_rank_linear_has_the_rank_and_the_bias_it_says():
    layer = LowRankLinear(20, 8, .5).double()
    assert [tuple(part.weight.shape) for part in layer] == [(4, 20), (8, 4)]
    assert layer[0].bias is None and layer[1].bias is not None and LowRankLinear(20, 8, .5, bias=False)[1].bias is None
    whole = layer[1].weight @ layer[0].weight
    assert torch.linalg.matrix_rank(whole) == 4
    x = torch.rand(3, 20, dtype=torch.float64)
    torch.testing.assert_close(layer(x), x @ whole.t() + layer[1].bias)
    assert LowRankLinear(20, 8, .01)[0].out_features == 2
    with pytest.raises(ValueError, match='ratio'):
        LowRankLinear(20, 8, 0)


def test_an_unknown_edgeface_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'base', 'small', 'xsmall', 'xxsmall'"):
        EdgeFace('medium')


def test_vit_neck_reads_the_tokens_row_by_row():
    neck, = shaken(ViTNeck(3, (2, 2), 4))
    neck.fc1.weight.data.zero_()
    neck.fc1.weight.data[0, 1 * 3 + 2] = 1  # channel 2 of the second token, which is the first row's second
    maps = torch.zeros(2, 3, 2, 2, dtype=torch.float64)
    quiet = neck.norm1(neck.fc1(maps.flatten(2).transpose(1, 2).flatten(1)))
    maps[:, 2, 0, 1] = 1.
    assert not torch.equal(neck.norm1(neck.fc1(maps.flatten(2).transpose(1, 2).flatten(1))), quiet)
    torch.testing.assert_close(neck(maps), neck.norm2(neck.fc2(neck.norm1(torch.tensor([[1., 0, 0]] * 2, dtype=torch.float64)))))


@pytest.mark.parametrize(('backbone', 'expected'), [
    (lambda: IResNet(18, se=True), lambda conv: .1),
    (MobileFaceNet, lambda conv: math.sqrt(2 / (conv.out_channels * math.prod(conv.kernel_size)))),
    (EdgeFace, lambda conv: .02 * .8796),  # of a normal distribution cut at two deviations
], ids=['IResNet', 'MobileFaceNet', 'EdgeFace'])
def test_convolutions_start_with_the_deviation_that_is_documented(backbone, expected):
    torch.manual_seed(0)
    convs = [module for module in backbone().modules() if isinstance(module, torch.nn.Conv2d) and module.weight.numel() > 2000]
    assert len(convs) > 5
    for conv in convs:
        assert conv.weight.std().item() == pytest.approx(expected(conv), rel=.08)
        assert abs(conv.weight.mean().item()) < .1 * expected(conv)


@pytest.mark.parametrize('switches', [dict(), dict(se=True, mid_norm=False, subsample_shortcut=True)], ids=['basic', 'subsample-se'])
def test_eps_is_that_of_every_batch_norm(switches):
    with torch.device('meta'):
        parts = IResNet(18, eps=2e-5, **switches), FaceNeck(eps=2e-5)
    norms = [m for part in parts for m in part.modules() if isinstance(m, torch.nn.BatchNorm2d | torch.nn.BatchNorm1d)]
    assert {norm.eps for norm in norms} == {2e-5}


def test_the_initial_weights_of_adaface_are_one_line_of_a_config():
    backbone = IResNet(18, init_cfg=dict(type='Kaiming', layer='Conv2d', mode='fan_out', nonlinearity='relu'))
    backbone.init_weights()
    assert backbone.layer4[1].conv1.weight.std().item() == pytest.approx(math.sqrt(2 / (512 * 9)), rel=.02)

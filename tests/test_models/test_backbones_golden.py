"""Backbones and necks against numbers that the authors' own code gives with the same weights.

The weights and the image are made by a formula, so that nothing but four numbers of each output has to be kept. Each line of GOLDEN says
which code, at which file of which repository, was run in float64 with the weights of `filled` under its own names.
"""
import pytest
import torch
from torch import nn

from mmface.models import EdgeFace, FaceNeck, GDCNeck, InceptionResNet, IResNet, MobileFaceNet, PoolNeck, ViTNeck
from mmface.models.backbones.iresnet import DEPTHS
from mmface.registry import MODELS

VIT = dict(type='mmpretrain.VisionTransformer', arch=dict(embed_dims=32, num_layers=2, num_heads=4, feedforward_channels=96), img_size=112,
           patch_size=8, with_cls_token=False, out_type='featmap', qkv_bias=False, norm_cfg=dict(type='LN', eps=1e-5),
           layer_cfgs=dict(act_cfg=dict(type='ReLU6')))


def filled(*parts: nn.Module) -> nn.Sequential:
    """The parts one after the other, in float64 and in eval mode; each number is a hash of its place."""
    network = nn.Sequential(*parts).double().eval()
    for place, tensor in enumerate(t for t in network.state_dict().values() if t.is_floating_point()):
        x = torch.arange(tensor.numel()) * 2654435761 + place * 40503 & 0xffffffff
        x = (x ^ x >> 15) * 2246822519 & 0xffffffff
        uniform = ((x ^ x >> 13) * 3266489917 & 0xffffffff).double() / 2**32
        spread = (uniform - .5) * (12 / tensor[0].numel())**.5 if tensor.dim() > 1 else uniform + .5
        tensor.copy_(spread.reshape(tensor.shape))
    return network


def images(count: int, side: int) -> torch.Tensor:
    return torch.sin(torch.arange(count * 3 * side * side).double() * .7).reshape(count, 3, side, side)


def four_of(output: torch.Tensor) -> list[float]:
    flat = output.flatten()
    return flat[[0, len(flat) // 3, len(flat) // 2, len(flat) - 1]].tolist()




@pytest.mark.parametrize(('switches', 'golden'), [
    # mk-minchul/AdaFace net.py: Backbone(..., 18 or 152, 'ir' or 'ir_se'), of each stage the first unit, of the second stage two
    (dict(), [-5.76516155, 12.9780604, -11.3688182, 5.23339056]),
    (dict(se=True), [3.46087027, -1.25120684, 1.45097406, .171397826]),
    (dict(bottleneck=True), [18.3650555, -7.01438275, -.931323767, 35.0700548]),
    (dict(bottleneck=True, se=True), [1.70288222, .889882064, 1.5306572, 10.0034846]),
    # JDAI-CV/FaceX-Zoo backbone/ResNets.py: Resnet(50, ..., 'ir' or 'ir_se'), the same units
    (dict(mid_norm=False), [.462003668, 3.1110276, -.410366318, 3.00672364]),
    (dict(mid_norm=False, se=True), [-.245560484, -.829517434, 1.10386983, -3.61339684]),
], ids=lambda value: '-'.join(value) or 'basic' if isinstance(value, dict) else '')
def test_iresnets_with_subsampling_shortcuts_compute_what_their_authors_networks_compute(switches, golden, monkeypatch):
    for depths in DEPTHS.values():
        monkeypatch.setitem(depths, 152, (1, 2, 1, 1))
    backbone, = filled(IResNet(152, subsample_shortcut=True, **switches))
    assert four_of(backbone(images(1, 37))[-1]) == pytest.approx(golden, rel=1e-7)


@pytest.mark.parametrize(('switches', 'golden'), [
    # deepinsight/insightface recognition/arcface_torch/backbones/mobilefacenet.py: get_mbf, get_mbf_large
    (dict(width=2., inner_width=1.), [-116.097765, -451.581528, 31.792225, -372.319573]),
    (dict(width=4., inner_width=1., units=(9, 12, 4), stem_units=2), [811627.006, -1698122.76, -1317528.74, -310162.821]),
], ids=['mbf', 'mbf_large'])
def test_wide_mobilefacenets_compute_what_insightfaces_compute(switches, golden):
    backbone, neck = filled(MobileFaceNet(**switches), GDCNeck(out_channels=64))
    assert four_of(neck(backbone(images(1, 112))[-1])) == pytest.approx(golden, rel=1e-7)


def test_inception_resnet_computes_what_facenets_reimplementation_computes():
    backbone, neck = filled(InceptionResNet(), PoolNeck(1792, dropout=.6, eps=1e-3))
    embedding = nn.functional.normalize(neck(backbone(images(1, 80))[-1]))
    # timesler/facenet-pytorch models/inception_resnet_v1.py: InceptionResnetV1()
    assert four_of(embedding) == pytest.approx([.0127907936, .045128918, -.014936969, .0185646481], rel=1e-7)


@pytest.mark.parametrize(('arch', 'gamma', 'golden'), [
    # otroshi/edgeface backbones/timmfr.py on timm 1.0.31, get_model of the same names
    ('xsmall', .6, [2.79028821, .661586648, 2.78584124, 1.16936951]),
    ('small', .5, [-.0567986847, 1.69899071, -.0601253301, -.259734516]),
    ('xxsmall', None, [-.400537536, .478635227, -.394851219, .963367676]),
], ids=['edgeface_xs_gamma_06', 'edgeface_s_gamma_05', 'edgeface_xxs'])
def test_edgeface_computes_what_its_authors_networks_compute(arch, gamma, golden):
    backbone = EdgeFace(arch, gamma)
    backbone, neck = filled(backbone, PoolNeck(backbone.out_channels, bias=True, norm=False, rank_ratio=gamma))
    # mmpretrain makes the frequencies of the positions in fp32.
    assert four_of(neck(backbone(images(2, 112))[-1])) == pytest.approx(golden, rel=1e-5)


def test_a_vision_transformer_of_mmpretrain_with_our_neck_computes_insightfaces():
    backbone, neck = filled(MODELS.build(VIT), ViTNeck(32, 14, 64))
    # deepinsight/insightface recognition/arcface_torch/backbones/vit.py: embed_dim=32, depth=2, num_heads=4, mlp_ratio=3, patch_size=8
    assert four_of(neck(backbone(images(2, 112))[-1])) == pytest.approx([2.46337826, -.702186866, 2.71261073, -2.97902022], rel=1e-7)


def test_a_neck_without_affine_norm_is_one_with_gain_one_and_shift_zero():
    plain, = filled(FaceNeck(4, 2, 8, affine=False))
    other = FaceNeck(4, 2, 8).double().eval()
    unmatched = other.load_state_dict(plain.state_dict(), strict=False)
    assert unmatched.missing_keys == ['norm.weight', 'norm.bias']
    maps = images(2, 2).repeat(1, 2, 1, 1)[:, :4]
    torch.testing.assert_close(plain(maps), other(maps))


def renamed(theirs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The keys of the public network with ReLU6 and a separable stem, as ours."""
    names = {'conv1.0': 'stem.0', 'conv1.1': 'stem.1', 'dw_conv.depthwise': 'stem.3', 'dw_conv.bn1': 'stem.4',
             'dw_conv.pointwise': 'stem.6', 'dw_conv.bn2': 'stem.7', 'conv2.0': 'last.0', 'conv2.1': 'last.1',
             'gdconv.depthwise': 'pool', 'gdconv.bn': 'pool_norm', 'conv3': 'fc', 'bn': 'norm'}
    inside = {'0.0': 0, '0.1': 1, '1.0': 3, '1.1': 4, '2': 6, '3': 7}
    for unit in range(15):
        names.update({f'features.{unit}.conv.{old}': f'stages.{unit}.{new}' for old, new in inside.items()})
    return {f'{names[k.rpartition(".")[0]]}.{k.rpartition(".")[2]}': v for k, v in theirs.items()}


def test_the_public_mobilefacenet_with_relu6_gives_what_its_frozen_file_gives(shared):
    onnxruntime = pytest.importorskip('onnxruntime')
    backbone, neck = MobileFaceNet(relu6=True, separable_stem=True).eval(), GDCNeck(bias=True).eval()
    weights = renamed(torch.load(shared / 'models/mobilefacenet.pt', map_location='cpu', weights_only=True))
    weights['fc.weight'] = weights['fc.weight'].flatten(1)
    own = set(backbone.state_dict())
    backbone.load_state_dict({k: v for k, v in weights.items() if k in own})
    neck.load_state_dict({k: v for k, v in weights.items() if k not in own})
    session = onnxruntime.InferenceSession(shared / 'models/mobilefacenet.onnx', providers=['CPUExecutionProvider'])
    pictures = images(1, 112).float()
    expected = session.run(None, {session.get_inputs()[0].name: pictures.numpy()})[0]
    with torch.no_grad():
        found = neck(backbone(pictures)[-1]).numpy()
    assert abs(found - expected).max() < 1e-4 * abs(expected).max()

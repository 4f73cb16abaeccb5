"""Parameters and multiply-adds of the networks, as their authors publish them, without a weight being allocated."""
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from mmface.models import EdgeFace, FaceNeck, GDCNeck, InceptionResNet, IResNet, MobileFaceNet, PoolNeck, ViTNeck
from mmface.registry import MODELS


def vit(size, depth, heads=8, mlp_ratio=4, patch=9):
    """InsightFace's, by mmpretrain: patches of 9 leave the last rows and columns of 112 out."""
    arch = dict(embed_dims=size, num_layers=depth, num_heads=heads, feedforward_channels=size * mlp_ratio)
    backbone = MODELS.build(dict(
        type='mmpretrain.VisionTransformer', arch=arch, img_size=112, patch_size=patch, patch_cfg=dict(padding=0), with_cls_token=False,
        out_type='featmap', qkv_bias=False, layer_cfgs=dict(act_cfg=dict(type='ReLU6'))))
    return backbone, ViTNeck(size, 112 // patch)


def on_meta(build):
    """Built without memory, but for EdgeNeXt, whose constructor reads numbers."""
    if 'edgeface' in build.__code__.co_names:
        return nn.Sequential(*build()).to('meta')
    with torch.device('meta'):
        return nn.Sequential(*build())


def edgeface(arch, gamma=None):
    backbone = EdgeFace(arch, gamma)
    return backbone, PoolNeck(backbone.out_channels, bias=True, norm=False, rank_ratio=gamma)


def iresnet(depth, affine=True, **switches):
    backbone = IResNet(depth, **switches)
    return backbone, FaceNeck(backbone.out_channels, affine=affine)


def adaface(depth, **switches):
    return iresnet(depth, affine=False, subsample_shortcut=True, **switches)


def old(depth, **switches):
    return iresnet(depth, subsample_shortcut=True, mid_norm=False, **switches)


#: What builds it, parameters, and entries of the state dict: counted on the authors' own networks as of 2026-11.
COUNTED = [
    # deepinsight/insightface recognition/arcface_torch/backbones/iresnet.py: iresnet18 to 200
    (lambda: iresnet(18), 24_025_600, 187), (lambda: iresnet(34), 34_139_328, 331), (lambda: iresnet(50), 43_590_848, 475),
    (lambda: iresnet(100), 65_156_160, 925), (lambda: iresnet(200), 118_833_920, 1_807),
    # mk-minchul/AdaFace net.py: IR_18, IR_50, IR_101, IR_152, IR_200, IR_SE_50, IR_SE_200
    (lambda: adaface(18), 24_020_352, 179), (lambda: adaface(50), 43_585_600, 467), (lambda: adaface(100), 65_150_912, 917),
    (lambda: adaface(152, bottleneck=True), 109_636_736, 1_291), (lambda: adaface(200, bottleneck=True), 114_138_240, 1_691),
    (lambda: adaface(50, se=True), 43_808_320, 515), (lambda: adaface(200, bottleneck=True, se=True), 121_240_704, 1_823),
    # JDAI-CV/FaceX-Zoo backbone/ResNets.py: Resnet(50, 100, 152; ir, ir_se)
    (lambda: old(50), 43_574_976, 349), (lambda: old(100), 65_129_792, 674), (lambda: old(152), 70_737_600, 687),
    (lambda: old(50, se=True), 43_797_696, 397), (lambda: old(100, se=True), 65_502_016, 772), (lambda: old(152, se=True), 71_148_736, 787),
    # JDAI-CV/FaceX-Zoo backbone/MobileFaceNets.py; insightface's get_mbf and get_mbf_large
    (lambda: (MobileFaceNet(), GDCNeck(out_channels=512)), 1_200_512, None),
    (lambda: (MobileFaceNet(width=2, inner_width=1), GDCNeck(out_channels=512)), 2_059_520, None),
    (lambda: (MobileFaceNet(width=4, inner_width=1, units=(9, 12, 4), stem_units=2), GDCNeck(out_channels=512)), 6_314_880, None),
    # timesler/facenet-pytorch models/inception_resnet_v1.py
    (lambda: (InceptionResNet(), PoolNeck(1792)), 23_482_624, None),
    # otroshi/edgeface backbones: 1.77, 3.65, 1.24 and 18.23 million in its README and in the paper's table
    (lambda: edgeface('xsmall', .6), 1_770_492, None), (lambda: edgeface('small', .5), 3_652_520, None),
    (lambda: edgeface('xxsmall'), 1_244_744, None), (lambda: edgeface('base'), 18_225_812, None),
]


@pytest.mark.parametrize(('build', 'parameters', 'entries'), COUNTED)
def test_parameters_and_entries_are_those_of_the_authors_networks(build, parameters, entries):
    network = on_meta(build)
    assert sum(p.numel() for p in network.parameters()) == parameters
    assert entries in (None, len(network.state_dict()))


@pytest.mark.parametrize(('build', 'millions', 'tolerance'), [
    # insightface recognition/arcface_torch/README.md, "ViT For Face Recognition", in thousands of millions with one decimal
    (lambda: iresnet(18), 2_600, 50), (lambda: iresnet(50), 6_300, 50), (lambda: iresnet(100), 12_100, 50),
    (lambda: vit(256, 12), 1_500, 50), (lambda: vit(512, 12), 5_700, 50), (lambda: vit(512, 24), 11_400, 50),
    # the same README's "mobilefacenet-0.45G", where batch norms and PReLU are counted too
    (lambda: (MobileFaceNet(width=2, inner_width=1), GDCNeck(out_channels=512)), 450, 15),
    # Chen et al., CCBR 2018, of the primary network
    (lambda: (MobileFaceNet(), GDCNeck()), 221, .5),
    # otroshi/edgeface README and the paper's table, which count a multiply-add as two
    (lambda: edgeface('xsmall', .6), 154. / 2, .4), (lambda: edgeface('small', .5), 306.12 / 2, .4),
    (lambda: edgeface('xxsmall'), 94.72 / 2, .4), (lambda: edgeface('base'), 1398.83 / 2, .4),
])
def test_multiply_adds_are_those_that_the_authors_print(build, millions, tolerance):
    backbone, neck = on_meta(build)
    with FlopCounterMode(display=False) as counter:
        neck(backbone(torch.empty(2, 3, 112, 112, device='meta'))[-1])
    assert counter.get_total_flops() / 2 / 2 / 1e6 == pytest.approx(millions, abs=tolerance)

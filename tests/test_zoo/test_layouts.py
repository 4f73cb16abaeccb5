"""A converted network computes what the published one computes, and what comes back is the same file, bit for bit."""
import sys
from pathlib import Path

import pytest
import torch

from mmface.models.backbones.iresnet import DEPTHS
from mmface.zoo import convert, write_foreign
from mmface.zoo.build_network import build_network
from mmface.zoo.layouts import LAYOUTS
from mmface.zoo.model_pair import ModelPair

sys.path.insert(0, str(Path(__file__).parent))
import published

UNITS = (1, 2, 1, 1)  #: in the stages of the small IResNets below

#: family -> (network, prefix, whether under 'state_dict', colour, mean, std)
FAMILIES = {
    'insightface': (published.iresnet, '', False, 'RGB', 127.5, 127.5),
    'magface': (lambda **sizes: published.iresnet(eps=2e-5, **sizes), 'features.module.', True, 'BGR', 0, 255),
    'adaface': (published.ir, 'model.', True, 'BGR', 127.5, 127.5),
    'adaface SE': (lambda **sizes: published.ir(se=True, **sizes), 'model.', True, 'BGR', 127.5, 127.5),
    'cvlface': (published.ir, 'net.', False, 'RGB', 127.5, 127.5),
    'tface': (published.ir, '', False, 'RGB', 127.5, 127.5),
    'tface bottleneck': (lambda **sizes: published.ir(bottleneck=True, **sizes), '', False, 'RGB', 127.5, 127.5),
    'tface bottleneck SE': (lambda **sizes: published.ir(bottleneck=True, se=True, **sizes), '', False, 'RGB', 127.5, 127.5),
    'face-evolve': (lambda **sizes: published.ir(new=False, affine=True, **sizes), '', False, 'RGB', 127.5, 127.5),
    'face-evolve CurricularFace': (lambda **sizes: published.ir(new=False, **sizes), '', False, 'RGB', 127.5, 127.5),
    'facex-zoo SE': (lambda **sizes: published.ir(new=False, affine=True, se=True, **sizes), 'feat_net.', True, 'BGR', 127.5, 128),
    'insightface-mobilefacenet': (published.insightface_mobilefacenet, '', False, 'RGB', 127.5, 127.5),
    'insightface-mobilefacenet large': (lambda **sizes: published.insightface_mobilefacenet((2, 3, 4, 2), 4, **sizes), '', False, 'RGB',
                                        127.5, 127.5),
    'treb1en-mobilefacenet': (published.flat_mobilefacenet, '', False, 'RGB', 127.5, 127.5),
    'facex-zoo-mobilefacenet': (published.flat_mobilefacenet, 'backbone.', True, 'BGR', 127.5, 128),
    'tface-mobilefacenet': (lambda **sizes: published.flat_mobilefacenet(tface=True, **sizes), '', False, 'RGB', 127.5, 127.5),
    'foamliu-mobilefacenet': (published.foamliu_mobilefacenet, '', False, 'RGB', (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)),
    'vit': (lambda side=2, dims=24: published.VisionTransformer(size=side * 16, out=dims), 'net.', False, 'RGB', 127.5, 127.5),
}  # yapf: disable


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """The shallowest of each kind with few units: the names and shapes are what is tested."""
    monkeypatch.setitem(DEPTHS['basic'], 18, UNITS)
    monkeypatch.setitem(DEPTHS['bottleneck'], 152, UNITS)


def save(path, network, prefix='', inside=False, **more):
    state = {prefix + key: value for key, value in network.state_dict().items()} | more
    torch.save({'state_dict': state, 'epoch': 3} if inside else state, path)
    return path


def embed(found, inputs):
    with torch.no_grad():
        return build_network(found.model, found.weights, 'converted')(inputs, mode='tensor')


@pytest.mark.parametrize('case', FAMILIES)
def test_each_family_is_recognised_computes_the_same_and_comes_back_bit_for_bit(case, tmp_path):
    build, prefix, inside, color, mean, std = FAMILIES[case]
    network = published.fill(build())
    found = convert(save(tmp_path / 'source.pt', network, prefix, inside))
    assert found.family == case.partition(' ')[0]
    with torch.no_grad():
        expected = network(published.images(3, 32))
    torch.testing.assert_close(embed(found, published.images(3, 32)), expected, rtol=1e-5, atol=1e-5 * float(expected.abs().max()))
    eats = found.manifest.input
    assert (eats['color'], eats['size']) == (color, (32, 32))
    assert torch.equal(torch.tensor(eats['mean']), torch.ones(3) * torch.tensor(mean))
    assert torch.equal(torch.tensor(eats['std']), torch.ones(3) * torch.tensor(std))

    back = write_foreign(ModelPair.read(found.write(tmp_path / 'ours.safetensors')), found.family, tmp_path / 'back.pt')
    content = torch.load(back, weights_only=True)
    layout = LAYOUTS[found.family]
    state = content[layout.inside] if layout.inside else content
    source = {layout.prefix + key: value for key, value in network.state_dict().items()}
    assert state.keys() == source.keys()
    assert all(torch.equal(value, state[key]) and value.dtype == state[key].dtype for key, value in source.items())


@pytest.mark.parametrize('build', [published.iresnet, published.ir, published.foamliu_mobilefacenet], ids=['iresnet', 'ir', 'mobile'])
def test_any_wrapper_is_seen_through(build, tmp_path):
    network = build()
    plain = convert(save(tmp_path / 'plain.pt', network))
    for prefix in ('model.', 'net.', 'module.', 'backbone.', 'feat_net.', 'features.module.', 'module.features.', 'state.deep.down.'):
        wrapped = convert(save(tmp_path / 'wrapped.pt', network, prefix))
        assert wrapped.manifest.source['prefix'] == prefix
        assert wrapped.weights.keys() == plain.weights.keys()
        assert all(torch.equal(value, wrapped.weights[key]) for key, value in plain.weights.items())


#: family -> the first four numbers that the authors' own code gives, with the weights of `fill` under its own names, in float32. Run in
#: 2026-11: deepinsight/insightface recognition/arcface_torch/backbones/{iresnet,mobilefacenet}.py, IrvingMeng/MagFace models/iresnet.py,
#: mk-minchul/AdaFace net.py, mk-minchul/CVLface .../models/{iresnet/model,vit/vit}.py, HuangYG123/CurricularFace backbone/model_irse.py,
#: Tencent/TFace recognition/torchkit/backbone/{model_irse,model_mobilefacenet}.py, JDAI-CV/FaceX-Zoo backbone/{ResNets,MobileFaceNets}.py
GOLDEN = {
    'insightface': [2.86988, -7.5524, -22.9134, 34.7736],
    'magface': [2.869, -7.55227, -22.9116, 34.7716],
    'adaface': [-3.63662, 23.0278, -18.0836, 9.57094],  # and TFace's and CVLface's code, which give the same
    'adaface SE': [1.52408, -7.80326, 2.72569, -3.27602],
    'tface bottleneck SE': [-0.525773, 6.65549, -1.5201, -4.01316],
    'face-evolve CurricularFace': [-12.7667, -20.6312, 10.5659, 9.17681],
    'facex-zoo SE': [0.474997, 8.16036, 4.25342, -0.68744],
    'insightface-mobilefacenet': [-50.3376, 8.38567, 38.6702, -132.013],
    'insightface-mobilefacenet large': [406.179, 480.512, 104.891, -303.572],
    'facex-zoo-mobilefacenet': [-743.991, -2340.78, -579.398, -2937.37],
    'tface-mobilefacenet': [209.665, 1206.06, -2192.63, 818.076],
    'vit': [0.807338, -1.17809, -0.950518, 3.44551],
}


@pytest.mark.parametrize('case', GOLDEN)
def test_a_converted_network_gives_the_numbers_of_the_authors_code(case, tmp_path):
    build, prefix, inside, *_ = FAMILIES[case]
    found = convert(save(tmp_path / 'source.pt', published.fill(build(side=7, dims=512)), prefix, inside))
    output = embed(found, published.images(1, 112))[0]
    assert output[:4].tolist() == pytest.approx(GOLDEN[case], rel=1e-5, abs=1e-5 * float(output.abs().max()))


def test_there_is_no_layout_without_a_test():
    assert {case.partition(' ')[0] for case in FAMILIES} == set(LAYOUTS)


def test_a_layout_refuses_networks_that_it_does_not_have(tmp_path):
    found = convert(save(tmp_path / 'source.pt', published.fill(published.ir(se=True))))
    pair = ModelPair(found.weights, found.manifest)
    with pytest.raises(ValueError, match=r'InsightFace \(iresnet\) has nothing like backbone.layer1.0.se.conv1.conv.weight'):
        write_foreign(pair, 'insightface', tmp_path / 'out.pt')
    found = convert(save(tmp_path / 'source.pt', published.fill(published.iresnet())))
    pair = ModelPair(found.weights, found.manifest)
    with pytest.raises(ValueError, match=r'MagFace.* has no IResNet with eps=1e-05 \(2e-05 there\)'):
        write_foreign(pair, 'magface', tmp_path / 'out.pt')
    with pytest.raises(ValueError, match=r'AdaFace \(IR\) has '):
        write_foreign(pair, 'adaface', tmp_path / 'out.pt')
    assert not list(tmp_path.glob('out*'))
    with pytest.raises(ValueError, match="'nobody' is none of adaface, "):
        write_foreign(pair, 'nobody', tmp_path / 'out.pt')


def test_heads_of_a_vit_follow_from_its_shapes_where_it_is_published(tmp_path):
    base = published.VisionTransformer(dims=512, depth=24, heads=16, mlp_ratio=3, patch=16)
    assert convert(save(tmp_path / 'base.pt', base)).model['backbone']['arch']['num_heads'] == 16

"""One argument for a model: a config, a converted pair, an ONNX file, or a name of the zoo."""
import argparse

import numpy as np
import onnx
import pytest
import torch

from mmface.apis import FaceInferencer, OnnxEmbedder, TorchEmbedder, export_model, get_model, get_model_info, init_model, open_embedder
from mmface.apis.export_model import stated_provenance
from mmface.apis.model_argument import is_pair, model_source, zoo_source
from mmface.commands import evaluate
from mmface.commands.evaluate_run import open_source
from mmface.export import Licence
from mmface.zoo import Manifest, ModelPair
from mmface.zoo.build_network import build_network
from mmface.zoo.foreign_file import write_foreign
from mmface.zoo.layouts import LAYOUTS
from mmface.zoo.publish import embedding_config, publish

SHIPPED = 'arcface_mobilefacenet_procedural'
CROPS = np.random.default_rng(0).integers(0, 256, (3, 32, 16, 3), np.uint8)


@pytest.fixture
def pair(config, checkpoint, tmp_path):
    terms = dict(code='Apache-2.0', weights='unknown', data='own pictures')
    return publish(checkpoint, tmp_path / 'given.safetensors', config=config, training_set='five people', licence=terms).weights


def test_a_pair_embeds_as_config_and_checkpoint_do(config, checkpoint, pair):
    expected = TorchEmbedder(config, checkpoint, 'cpu').embed(CROPS)
    for argument in (pair, str(pair), pair.with_suffix('.json')):
        found = open_embedder(argument, device='cpu')
        np.testing.assert_array_equal(found.embed(CROPS), expected)
    assert (found.size, found.template, found.path.name) == ((32, 16), 'arcface', 'given')
    assert found.describe()['color'] == 'BGR'


def test_a_name_of_the_zoo_is_a_model_everywhere():
    expected = get_model(SHIPPED).state_dict()
    for model in (init_model(SHIPPED), FaceInferencer(SHIPPED, device='cpu', aligned=True).embedder.model, open_embedder(SHIPPED).model):
        assert all(torch.equal(tensor.cpu(), expected[name]) for name, tensor in model.state_dict().items())


def test_what_is_known_of_a_pair_goes_into_the_file_exported_from_it(pair, tmp_path):
    report = export_model(pair, None, tmp_path / 'out.onnx')
    assert report.metadata['training_set'] == 'five people'
    assert report.metadata['licence'] == dict(code='Apache-2.0', weights='unknown', data='own pictures')
    assert report.metadata['checkpoint_sha256'] == Manifest.read(pair.with_suffix('.json')).source['sha256']
    embedder = open_embedder(tmp_path / 'out.onnx')
    assert isinstance(embedder, OnnxEmbedder)
    np.testing.assert_allclose(embedder.embed(CROPS), TorchEmbedder(pair, device='cpu').embed(CROPS), atol=1e-5)
    said = stated_provenance(model_source(pair), Licence(weights='CC0-1.0'), 'six people')  # what the caller says comes first
    assert (said.training_set, said.licence) == ('six people', Licence('Apache-2.0', 'CC0-1.0', 'own pictures'))


def test_a_pair_can_be_evaluated_and_a_safetensors_file_without_manifest_holds_something_else(pair, tmp_path):
    assert is_pair(pair)
    parser = argparse.ArgumentParser()
    evaluate.add_arguments(parser)
    arguments = parser.parse_args([str(pair), '--pairs', 'x', '--no-cache'])
    source = open_source(str(pair), arguments)
    assert (source.name, source.model_id) == ('given', TorchEmbedder(pair, device='cpu').model_id)
    assert source.describe()['size'] == [32, 16]
    pair.with_suffix('.json').rename(tmp_path / 'elsewhere.json')
    assert not is_pair(pair)
    with pytest.raises(FileNotFoundError, match=r'given.json: there is no such manifest'):
        init_model(pair)


@pytest.mark.parametrize(('change', 'error', 'words'), [
    (lambda pair: pair.write_bytes(pair.read_bytes()[:-1] + b'!'), ValueError, r'not the weights that given.json is about'),
    (lambda pair: pair.unlink(), FileNotFoundError, r'given.safetensors: there is no such file'),
    (lambda pair: pair.with_suffix('.json').write_text('[]'), ValueError, r'given.json: not a manifest'),
    (lambda pair: pair.with_suffix('.json').write_text(pair.with_suffix('.json').read_text().replace('"schema": 1', '"schema": 2')),
     ValueError, 'its schema is 2, this version reads 1'),
])  # yapf: disable
def test_a_damaged_pair_is_refused_by_name(pair, change, error, words):
    change(pair)
    with pytest.raises(error, match=words):
        init_model(pair)


def test_what_does_not_go_together_is_said(config, checkpoint, pair, tmp_path):
    for argument, other, words in ((pair, checkpoint, 'has its own weights'), (checkpoint, None, 'does not say which network it is of'),
                                   ('no-such-model', None, 'the zoo has no model'), (tmp_path / 'a.onnx', None, 'does not say which')):
        with pytest.raises(ValueError, match=words):
            model_source(argument, other)
    with pytest.raises(ValueError, match='mean is for ONNX files'):
        open_embedder(pair, mean=[0, 0, 0])
    with pytest.raises(ValueError, match='give its checkpoint too'):
        export_model(config, None, tmp_path / 'drawn.onnx')
    onnx.save(onnx.ModelProto(), tmp_path / 'x.onnx')
    with pytest.raises(ValueError, match='has its own weights'):
        open_embedder(tmp_path / 'x.onnx', checkpoint)


def test_a_file_of_another_project_fetched_by_hand_is_converted(tmp_path):
    name = 'arcface_mobilefacenet_3rdparty-facex-zoo_ms1m-v1c'
    entry = get_model_info(name)
    backbone, neck = LAYOUTS[entry.converter].example
    model = dict(type='FaceRecognizer', backbone=backbone, neck=neck, data_preprocessor=dict(type='FaceDataPreprocessor', color='BGR'))
    torch.manual_seed(0)
    network = build_network(model)
    file = write_foreign(ModelPair(network.state_dict(), Manifest('mmface', embedding_config(model))), entry.converter, tmp_path / 'x.pt')
    file.with_name('x.pt.json').unlink()  # as their authors publish it
    found = get_model(name, pretrained=file)
    assert all(torch.equal(tensor, network.state_dict()[key]) for key, tensor in found.state_dict().items())
    assert found.data_preprocessor.color == 'BGR'
    source = zoo_source(entry, file)
    assert source.provenance.licence.code == 'Apache-2.0'
    assert source.provenance.training_set.startswith('MS-Celeb-1M')
    with pytest.raises(FileNotFoundError, match=r'none\.pt'):
        get_model(name, pretrained=tmp_path / 'none.pt')

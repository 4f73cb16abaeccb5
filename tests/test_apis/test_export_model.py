"""From a config and a checkpoint to a file, by hand and by the tool."""
import functools
import hashlib
import json
import os

import cv2
import numpy as np
import pytest
import torch
from mmengine.config import Config
from torch import nn

from mmface.apis import OnnxEmbedder, export_model, init_model
from mmface.export import Precision, export_onnx
from mmface.registry import MODELS

CONFIG = """
default_scope = 'mmface'
model = dict(
    type='FaceRecognizer',
    backbone=dict(type='ShallowBackbone'),
    neck=dict(type='GDCNeck', in_channels=16, feat_size=(4, 2), out_channels=8),
    head=dict(type='FaceClsHead', num_classes=5, in_channels=8, loss=dict(type='ArcFaceLoss')),
    data_preprocessor=dict(type='FaceDataPreprocessor', mean=[1., 2., 3.], std=[60., 70., 80.], color='BGR', size=(32, 16)))
"""


@MODELS.register_module(force=True)
class ShallowBackbone(nn.Sequential):
    """[B, 3, 32, 16] -> [B, 16, 4, 2], and quick to export."""

    def __init__(self):
        super().__init__(nn.Conv2d(3, 16, 8, 8, bias=False), nn.BatchNorm2d(16), nn.PReLU(16))

    def forward(self, x):
        return (super().forward(x), )


@pytest.fixture
def config(tmp_path):
    (tmp_path / 'small.py').write_text(CONFIG)
    return tmp_path / 'small.py'


@pytest.fixture
def trained(config):
    torch.manual_seed(0)
    return MODELS.build(Config.fromfile(config).model)


@pytest.fixture
def checkpoint(trained, tmp_path):
    torch.save(dict(state_dict=trained.state_dict(), meta=dict(epoch=3)), tmp_path / 'epoch_3.pth')
    return tmp_path / 'epoch_3.pth'


@pytest.fixture
def run(tool, capsys):

    def call(*args):
        code = tool('export')([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call


def test_a_model_has_the_checkpoints_weights_and_no_head(config, checkpoint, trained):
    model = init_model(config, checkpoint)
    assert model.head is None
    assert not model.training
    inputs = torch.randn(2, 3, 32, 16, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model(inputs), trained.eval()(inputs), rtol=0, atol=0)


@pytest.mark.parametrize('wrap', [lambda state: state, lambda state: dict(state_dict={f'module.{key}': state[key] for key in state})])
def test_bare_and_distributed_state_dicts_load_too(config, trained, tmp_path, wrap):
    torch.save(wrap(trained.state_dict()), tmp_path / 'other.pth')
    assert torch.equal(init_model(config, tmp_path / 'other.pth').neck.fc.weight, trained.neck.fc.weight)


def test_weights_that_do_not_fit_are_named(config, trained, tmp_path):
    state = trained.state_dict()
    state['neck.fc.extra'] = state.pop('neck.norm.bias')
    state['neck.fc.weight'] = torch.zeros(9, 16)
    torch.save(state, tmp_path / 'other.pth')
    with pytest.raises(ValueError, match=r'other\.pth does not fit .*neck\.fc\.extra is not in .*neck\.fc\.weight is \[9, 16\], '
                       r'the model has \[8, 16\]; neck\.norm\.bias is missing'):
        init_model(config, tmp_path / 'other.pth')


class Intruder:

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path), )


def test_a_checkpoint_that_would_run_code_is_refused_and_does_not(config, tmp_path):
    torch.save(dict(state_dict={}, hook=Intruder(tmp_path / 'intruded')), tmp_path / 'bad.pth')
    with pytest.raises(ValueError, match=r'bad.pth: cannot be loaded as tensors and plain values'):
        init_model(config, tmp_path / 'bad.pth')
    assert not (tmp_path / 'intruded').exists()


@pytest.mark.parametrize('content', [b'', b'junk', b'PK\x03\x04junk'])
def test_a_damaged_checkpoint_is_refused_by_name(config, tmp_path, content):
    (tmp_path / 'bad.pth').write_bytes(content)
    with pytest.raises(ValueError, match=r'bad\.pth: cannot be loaded'):
        init_model(config, tmp_path / 'bad.pth')


def test_a_file_of_something_else_and_a_config_without_a_model_are_refused(config, tmp_path):
    torch.save([1, 2], tmp_path / 'list.pth')
    with pytest.raises(ValueError, match=r'list.pth: holds neither'):
        init_model(config, tmp_path / 'list.pth')
    with pytest.raises(ValueError, match='has no `model`'):
        init_model(Config(dict(a=1)))


def test_the_tool_writes_a_file_that_embeds_like_the_network(run, config, checkpoint, trained, tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (3, 32, 16, 3), np.uint8)
    (tmp_path / 'crops/deep').mkdir(parents=True)
    for number, image in enumerate(images):
        cv2.imwrite(str(tmp_path / f'crops/deep/{number}.png'), image[..., ::-1])
    code, out, err = run(config, checkpoint, tmp_path / 'small.onnx', '--images', tmp_path / 'crops', '--licence-code', 'Apache-2.0')
    assert (code, err) == (0, '')
    assert 'batch 7, 3 given images: max relative difference' in out
    assert 'licence  code Apache-2.0, weights unknown, data unknown' in out
    embedder = OnnxEmbedder(tmp_path / 'small.onnx')
    assert embedder.size == (32, 16)
    assert embedder.metadata['config'] == 'small.py'
    assert embedder.metadata['checkpoint_sha256'] == hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    assert len(embedder.metadata['config_sha256']) == 64
    with torch.no_grad():
        data = trained.eval().data_preprocessor(dict(inputs=[torch.from_numpy(image).permute(2, 0, 1) for image in images]))
        np.testing.assert_allclose(embedder.embed(images), trained(data['inputs']).numpy(), rtol=0, atol=1e-4)
    assert str(tmp_path) not in json.dumps(embedder.metadata)


def test_the_tool_says_1_and_leaves_nothing_where_the_check_fails(run, config, checkpoint, tmp_path, monkeypatch):
    exact = Precision('exact', max_relative_difference=0, lossy=False)
    monkeypatch.setitem(export_model.__globals__, 'export_onnx', functools.partial(export_onnx, precision=exact))
    code, out, err = run(config, checkpoint, tmp_path / 'small.onnx')
    assert (code, out) == (1, '')
    assert 'max relative difference' in err
    assert f'Nothing is left at {tmp_path / "small.onnx"}' in err
    assert not (tmp_path / 'small.onnx').exists()


@pytest.mark.parametrize('arguments, words', [
    (['{0}/none.py', '{0}/epoch_3.pth', '{0}/x.onnx'], 'none.py'),
    (['{0}/small.py', '{0}/none.pth', '{0}/x.onnx'], 'none.pth: there is no such checkpoint'),
    (['{0}/small.py', '{0}/epoch_3.pth', '{0}'], 'is a folder'),
    (['{0}/small.py', '{0}/epoch_3.pth', '{0}/x.onnx', '--cfg-options', 'model.type=Nothing'], 'Nothing'),
    (['{0}/small.py', '{0}/epoch_3.pth', '{0}/x.onnx', '--licence-data', ''], 'licence of the data is empty'),
    (['{0}/small.py', '{0}/epoch_3.pth', '{0}/x.onnx', '--images', '{0}/empty'], 'no image in this folder'),
    (['{0}/small.py', '{0}/epoch_3.pth', '{0}/x.onnx', '--images', '{0}/wide.png'], 'wide.png: is 16 x 32'),
])
def test_bad_input_is_2_and_says_what(run, checkpoint, tmp_path, arguments, words):
    (tmp_path / 'empty').mkdir()
    cv2.imwrite(str(tmp_path / 'wide.png'), np.zeros((16, 32, 3), np.uint8))
    code, out, err = run(*(argument.format(tmp_path) for argument in arguments))
    assert (code, out) == (2, '')
    assert words in err
    assert not (tmp_path / 'x.onnx').exists()

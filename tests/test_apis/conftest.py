"""The tools as functions, a web server that misbehaves on request, and networks small enough to work out by hand."""
import runpy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import onnx
import pytest
import torch
from mmengine.config import Config
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from mmface.export import write_metadata
from mmface.registry import MODELS

TOOLS = Path(__file__).resolve().parents[2] / 'tools'


@pytest.fixture(scope='session')
def tool():
    """``tool('verify')`` is the ``main(argv)`` of tools/verify.py."""
    return lambda name: runpy.run_path(str(TOOLS / f'{name}.py'))['main']


@pytest.fixture(scope='session')
def yunet(shared):
    return shared / 'models/yunet.onnx'


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """MMEngine's cache, empty."""
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path / 'home'))
    return tmp_path / 'home/mmface'


@pytest.fixture
def server(monkeypatch):
    """Serves ``server.body`` in the manner ``server.manner`` and counts ``server.requests``."""
    monkeypatch.setenv('no_proxy', '*')

    class Handler(BaseHTTPRequestHandler):

        def do_GET(self):
            http.requests += 1
            body = dict(truncated=http.body[:len(http.body) // 2], altered=http.body[:-1] + b'!').get(http.manner, http.body)
            self.send_response(404 if http.manner == 'absent' else 200)
            self.send_header('Content-Length', str(len(http.body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    http.requests, http.manner, http.body = 0, 'good', b''
    http.url = f'http://127.0.0.1:{http.server_port}/models/file.onnx'
    thread = Thread(target=http.serve_forever, kwargs=dict(poll_interval=.01))
    thread.start()
    yield http
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def colour_model(tmp_path):
    """Writes a network whose embedding is the mean colour of a 4 x 6 image, R, G, B, minus 128."""

    def build(thresholds=()):
        nodes = [
            helper.make_node('Cast', ['images'], ['floats'], to=TensorProto.FLOAT),
            helper.make_node('ReduceMean', ['floats'], ['mean'], axes=[1, 2], keepdims=0),
            helper.make_node('Sub', ['mean', 'middle'], ['embedding'])
        ]
        graph = helper.make_graph(nodes, 'colour', [helper.make_tensor_value_info('images', TensorProto.UINT8, ['batch', 4, 6, 3])],
                                  [helper.make_tensor_value_info('embedding', TensorProto.FLOAT, ['batch', 3])],
                                  [numpy_helper.from_array(np.float32(128), 'middle')])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        takes = dict(layout='NHWC', dtype='uint8', size=[4, 6], color='RGB', mean=[0, 0, 0], std=[1, 1, 1], template='arcface')
        gives = dict(embedding='embedding', dim=3, normalized=False, norm=None, flip=False)
        write_metadata(model, dict(schema=1, input=takes, preprocessing_in_graph=True, output=gives, thresholds=list(thresholds)))
        onnx.save(model, tmp_path / 'colour.onnx')
        return tmp_path / 'colour.onnx'

    return build


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

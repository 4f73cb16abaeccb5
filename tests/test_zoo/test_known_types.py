"""A manifest builds networks and does nothing else."""
import json
from pathlib import Path

import pytest
from torch import nn

from mmface.registry import MODELS
from mmface.utils.data_format_error import DataFormatError
from mmface.zoo import ModelPair, model_index
from mmface.zoo.entry import PACKAGE
from mmface.zoo.known_types import check_types
from mmface.zoo.layouts import LAYOUTS
from mmface.zoo.layouts.layout import model_config

SHIPPED = PACKAGE / model_index().find('arcface_mobilefacenet_procedural').weights


@MODELS.register_module()
def a_registered_function():
    return nn.Identity()


@pytest.mark.parametrize('layout', LAYOUTS.values(), ids=LAYOUTS)
def test_what_converters_write_is_built(layout):
    check_types(model_config(*layout.example, mean=(1., 2., 3.)), Path('x.json'))


@pytest.mark.parametrize('kind', ['FaceRecognizer', 'mmface.IResNet', 'mmpretrain.ResNet', 'ResNet', 'LN', 'mmengine.LN'])
def test_registered_modules_are_built_under_their_names_in_any_registry(kind):
    check_types(dict(type=kind), Path('x.json'))


@pytest.mark.parametrize(('change', 'place'), [
    (dict(backbone=dict(type='os.mkdir', path='made')), 'model.backbone.type'),
    (dict(neck=dict(layers=[dict(type='subprocess.call', args=['mkdir', 'made'])])), r'model.neck.layers.0.type'),
    (dict(type='mmpretrain.get_model', model='x'), 'model.type'),
    (dict(type='torch.nn.Linear', in_features=1, out_features=1), 'model.type'),
    (dict(type='a_registered_function'), 'model.type'),
    (dict(type='Absent'), 'model.type'),
    (dict(type=['FaceRecognizer']), 'model.type'),
    (dict(backbone=dict(type='IResNet', init_cfg=dict(type='Pretrained', checkpoint='x.pth'))), 'model.backbone.init_cfg'),
    (dict(_scope_='antigravity'), 'model._scope_'),
])
def test_a_manifest_that_asks_for_more_is_refused_before_anything_is_built(change, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = json.loads(SHIPPED.with_suffix('.json').read_text())
    record['model'] |= change
    Path('x.json').write_text(json.dumps(record))
    Path('x.safetensors').write_bytes(SHIPPED.read_bytes())
    with pytest.raises(DataFormatError, match=f'x.json: {place}: .*nothing of this file was built'):
        ModelPair.read('x.safetensors')
    assert not Path('made').exists()

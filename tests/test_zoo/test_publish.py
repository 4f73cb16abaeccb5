"""What is given away: the network, and nothing of the people or the machine that it was trained on."""
import json
import runpy
from pathlib import Path

import pytest
import torch
from mmengine.config import Config

from mmface.registry import MODELS
from mmface.zoo import Manifest, ModelPair
from mmface.zoo.build_network import build_network
from mmface.zoo.data_hash import data_hash
from mmface.zoo.publish import publish

CONFIG = """
default_scope = 'mmface'
model = dict(
    type='FaceRecognizer',
    backbone=dict(type='MobileFaceNet', width=.125, stem_stride=4, out_channels=16,
                  init_cfg=dict(type='Pretrained', checkpoint='/home/secret-user/start.pth')),
    neck=dict(type='GDCNeck', in_channels=16, feat_size=2, out_channels=8),
    head=dict(type='FaceClsHead', num_classes=3, in_channels=8, loss=dict(type='ArcFaceLoss')),
    data_preprocessor=dict(type='FaceDataPreprocessor', size=(56, 56)))
train_dataloader = dict(dataset=dict(path='/home/secret-user/faces'))
randomness = dict(seed=7)
"""
SECRETS = ('secret-user', 'Ada Lovelace', 'message-of-the-hub', 'momentum_buffer', '/home')


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    """A work folder as MMEngine leaves it."""
    folder = tmp_path_factory.mktemp('work')
    (folder / 'small.py').write_text(CONFIG)
    settings = dict(Config.fromfile(folder / 'small.py').model)
    settings['backbone'] = {key: value for key, value in settings['backbone'].items() if key != 'init_cfg'}
    torch.manual_seed(0)
    model = MODELS.build(settings)
    torch.save(dict(
        meta=dict(cfg=CONFIG, dataset_meta=dict(classes=['Ada Lovelace', 'B', 'C']), experiment_name='/home/secret-user/work'),
        state_dict={f'module.{name}': tensor for name, tensor in model.state_dict().items()},
        message_hub=dict(note='message-of-the-hub'), optimizer=dict(state={0: dict(momentum_buffer=torch.ones(3))})),
        folder / 'epoch_2.pth')  # yapf: disable
    log = folder / '20260101_000000/vis_data/scalars.json'
    log.parent.mkdir(parents=True)
    log.write_text('{"loss": 2.5, "iter": 10, "step": 10}\n{"loss": 1.25, "iter": 20, "step": 20}\n{"lfw/accuracy": 0.75, "step": 2}\n')
    return folder, model


@pytest.fixture
def published(trained, tmp_path):
    (tmp_path / 'faces').mkdir()
    (tmp_path / 'faces/1.jpg').write_bytes(b'picture')
    return publish(trained[0] / 'epoch_2.pth', tmp_path / 'out/small.safetensors', data=tmp_path / 'faces', training_set='three people',
                   licence=dict(code='Apache-2.0', weights='CC0-1.0', data='own'))  # yapf: disable


def test_the_network_is_the_one_that_was_trained(trained, published):
    pair = ModelPair.read(published.weights)
    network = build_network(pair.manifest.model, pair.weights)
    images = torch.rand(2, 3, 56, 56)
    with torch.no_grad():
        torch.testing.assert_close(network(images), trained[1].eval()(images), rtol=0, atol=0)


def test_head_names_paths_and_training_state_are_gone_from_every_byte(trained, published):
    head = trained[1].head.weight.detach().numpy().tobytes()[:32]
    assert head in (trained[0] / 'epoch_2.pth').read_bytes()
    for file in published.weights.parent.iterdir():
        data = file.read_bytes()
        for secret in SECRETS:
            assert secret.encode() not in data, f'{secret} is in {file.name}'
        assert head not in data
    assert set(published.removed) == {'meta', 'message_hub', 'optimizer', 'head.weight'}


def test_the_manifest_says_what_it_is(trained, published):
    manifest = Manifest.read(published.manifest)
    assert manifest.num_classes == 3
    assert manifest.training_set == 'three people'
    assert manifest.licence == dict(code='Apache-2.0', weights='CC0-1.0', data='own')
    assert manifest.input['size'] == [56, 56]
    assert manifest.source['config'] == 'small.py'
    assert manifest.source['file'] == 'epoch_2.pth'
    assert manifest.source['seed'] == 7
    assert set(manifest.model) == {'type', 'backbone', 'neck', 'data_preprocessor'}


def test_the_card_states_uses_licence_log_and_what_was_not_measured(published):
    text = published.card.read_text()
    manifest = Manifest.read(published.manifest)
    for words in ('Excluded uses', 'covert or mass identification', 'sole basis', 'not a probability of identity', 'not liveness',
                  'CC0-1.0', 'three people', '20 iterations, last loss 1.2500', 'lfw/accuracy 0.7500',
                  'skin tone, image quality): not measured', 'Not measured.',
                  manifest.weights_sha256, manifest.source['data_sha256']):  # yapf: disable
        assert words in text, words
    assert '$' not in text


def test_results_come_from_the_evaluation(trained, tmp_path):
    results = dict(results=[dict(set='lfw', pairs=6000, accuracy=.9, accuracy_se=.01, auc=.95, eer=.1,
                                 switches=dict(protocol='ten_fold_verification', rule='grid', flip=None))])  # yapf: disable
    card = publish(trained[0] / 'epoch_2.pth', tmp_path / 'x.safetensors', results=results, command='evaluate x').card.read_text()
    assert '| lfw | ten fold verification, 6,000 pairs, rule grid, flip None | 90.00 ± 1.00 % | 0.9500 | 10.00 % |' in card
    assert 'evaluate x' in card


def test_the_head_stays_only_where_it_is_asked_for(trained, tmp_path):
    written = publish(trained[0] / 'epoch_2.pth', tmp_path / 'x.safetensors', keep_head=True)
    assert 'head.weight' in ModelPair.read(written.weights).weights
    assert 'still in the file' in written.card.read_text()


def test_which_config_was_trained_has_to_be_clear(trained, tmp_path):
    (tmp_path / 'epoch_2.pth').write_bytes((trained[0] / 'epoch_2.pth').read_bytes())
    with pytest.raises(FileNotFoundError, match=r'holds 0 configs \(none\).*--config'):
        publish(tmp_path / 'epoch_2.pth', tmp_path / 'x.safetensors')
    (tmp_path / 'other.py').write_text(CONFIG.replace('out_channels=8)', 'out_channels=4)'))
    with pytest.raises(ValueError, match=r'epoch_2.pth does not fit the config.s model: neck'):
        publish(tmp_path / 'epoch_2.pth', tmp_path / 'x.safetensors')
    assert not (tmp_path / 'x.safetensors').exists()


def test_the_tool_publishes_and_lists_what_it_removed(trained, tmp_path, capsys):
    main = runpy.run_path(str(Path(__file__).resolve().parents[2] / 'tools/model_converters/publish.py'))['main']
    assert main([str(trained[0] / 'epoch_2.pth'), str(tmp_path / 'small.safetensors'), '--licence-data', 'own']) == 0
    assert 'removed  meta, message_hub, optimizer, head.weight' in capsys.readouterr().out
    assert main([str(tmp_path / 'none.pth'), str(tmp_path / 'b.safetensors'), '--config', str(trained[0] / 'small.py')]) == 2
    assert 'none.pth' in capsys.readouterr().err
    assert json.loads((tmp_path / 'small.json').read_text())['licence'] == dict(code='unknown', weights='unknown', data='own')


def test_a_hash_of_data_sees_content_and_names_and_not_the_place(tmp_path):
    for folder, name, content in (('a', 'x', b'1'), ('b', 'x', b'1'), ('c', 'y', b'1'), ('d', 'x', b'2')):
        (tmp_path / folder / 'sub').mkdir(parents=True)
        (tmp_path / folder / 'sub' / name).write_bytes(content)
    a, b, c, d = (data_hash(tmp_path / folder) for folder in 'abcd')
    assert a == b
    assert len({a, c, d}) == 3
    with pytest.raises(FileNotFoundError):
        data_hash(tmp_path / 'e')

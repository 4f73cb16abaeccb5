"""Networks by name: the shipped one embeds as it did when it was published; for the others it is said how to come by them."""
import hashlib
import importlib

import numpy as np
import pytest
import torch

from mmface.apis import TorchEmbedder, get_model, get_model_info, list_models
from mmface.apis.embed_dataset import embed_dataset
from mmface.datasets import EvalDataset
from mmface.datasets.procedural import ProceduralFaces, SetSizes, write_sets
from mmface.evaluation import TenFoldVerification
from mmface.zoo import fetch_weights

SHIPPED = 'arcface_mobilefacenet_procedural'
#: The first four numbers of three faces' embeddings, when the weights were published (torch 2.14.1 on a CPU).
GOLDEN = [[-0.78890, 0.76472, 1.98624, 0.25754], [-0.96479, 1.43744, 0.53817, 0.66368], [0.01269, 1.09896, 0.68941, 1.11787]]


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    monkeypatch.setenv('MMFACE_OFFLINE', '1')


@pytest.fixture(scope='module')
def faces():
    faces = ProceduralFaces(0)
    return np.stack([faces.draw(600, 0)[0], faces.draw(600, 1)[0], faces.draw(601, 0)[0]])


def test_the_shipped_network_gives_the_embeddings_it_was_published_with(faces):
    model = get_model(SHIPPED)
    assert model.head is None and not model.training
    eats = model.data_preprocessor
    assert (eats.size, eats.color, eats.mean, eats.std, eats.template) == ((112, 112), 'RGB', (127.5, ) * 3, (127.5, ) * 3, 'arcface')
    with torch.no_grad():
        embeddings = model(eats(dict(inputs=torch.from_numpy(faces).permute(0, 3, 1, 2)))['inputs']).numpy()
    assert embeddings.shape == (3, 128)
    np.testing.assert_allclose(embeddings[:, :4], GOLDEN, rtol=0, atol=2e-4)


def test_without_its_weights_it_is_as_drawn_and_needs_no_file(faces):
    torch.manual_seed(0)
    first = get_model(SHIPPED, pretrained=False).state_dict()
    trained = get_model(SHIPPED).state_dict()
    assert first.keys() == trained.keys()
    assert not torch.equal(first['neck.fc.weight'], trained['neck.fc.weight'])


@pytest.mark.slow
def test_the_shipped_network_reaches_the_accuracy_that_the_zoo_states(tmp_path):
    write_sets(tmp_path, 0, SetSizes(pictures=1))  # the people to test on come after the 600 to train on
    dataset = EvalDataset(str(tmp_path / 'test'), pipeline=[dict(type='DecodeFace'), dict(type='PackFace')])
    embeddings, _ = embed_dataset(TorchEmbedder(SHIPPED, device='cpu'), dataset)
    found = TenFoldVerification()(dataset.metainfo['pair_set'], embeddings)
    (stated, ) = get_model_info(SHIPPED).results
    assert 100 * found['accuracy'] == pytest.approx(stated.metrics['Accuracy'], abs=.1)
    assert 100 * found['accuracy_se'] == pytest.approx(stated.metrics['Standard error'], abs=.05)
    assert found['auc'] == pytest.approx(stated.metrics['AUC'], abs=2e-4)
    assert 100 * found['eer'] == pytest.approx(stated.metrics['EER'], abs=.1)


def test_an_altered_file_of_the_package_is_refused(tmp_path, monkeypatch):
    path = fetch_weights(get_model_info(SHIPPED))
    (tmp_path / 'zoo/weights').mkdir(parents=True)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    (tmp_path / 'zoo/weights' / path.name).write_bytes(data)
    monkeypatch.setattr(importlib.import_module('mmface.zoo.fetch_weights'), 'PACKAGE', tmp_path)
    with pytest.raises(ValueError, match='not the file that the zoo means'):
        get_model(SHIPPED)


def test_names_are_found_by_part_pattern_and_task():
    assert SHIPPED in list_models('PROCEDURAL')
    assert SHIPPED in list_models('arcface_*')
    assert SHIPPED not in list_models('cosface_*')
    assert list_models() == sorted(list_models())
    assert SHIPPED in list_models(task='face verification')
    assert SHIPPED not in list_models(task='Face Identification')


def test_the_nearest_names_are_suggested():
    with pytest.raises(ValueError, match=f'no model .*procedual.: did you mean {SHIPPED}'):
        get_model('arcface_mobilefacenet_procedual')
    with pytest.raises(ValueError, match=r'mmface.list_models\(\) lists them'):
        get_model_info('%%%')


@pytest.mark.parametrize(('status', 'words'), [
    ('rebuild', 'not published. Train it: python tools/'),
    ('config only', 'mmface train '),
    ('by hand', r"cannot be fetched by a program: open https://.*pretrained='FILE'"),
])
def test_what_has_no_weights_says_how_to_come_by_them(status, words):
    name = next(name for name in list_models() if get_model_info(name).status == status)
    with pytest.raises(ValueError, match=f'^{name}: .*{words}'):
        get_model(name)


def test_an_unverified_download_is_refused_offline_too(monkeypatch, tmp_path):
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path))
    name = next(name for name in list_models() if get_model_info(name).status == 'unverified')
    with pytest.raises(OSError, match='MMFACE_OFFLINE'):
        get_model(name, accept_unverified=True)


def test_a_published_network_is_identified_by_its_weights():
    embedder = TorchEmbedder(SHIPPED, device='cpu')
    assert embedder.model_id == TorchEmbedder(SHIPPED, device='cpu').model_id
    assert hashlib.sha256(fetch_weights(get_model_info(SHIPPED)).read_bytes()).hexdigest() == get_model_info(SHIPPED).sha256
    torch.manual_seed(0)
    embedder.model.neck.fc.weight.data[0, 0] += 1
    del embedder.model_id
    assert embedder.model_id != TorchEmbedder(SHIPPED, device='cpu').model_id

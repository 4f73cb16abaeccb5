"""A network of others with real weights: converted, it gives what their ONNX file gives, and the accuracy on LFW that they have."""
import tarfile

import numpy as np
import pytest
import torch

from mmface.datasets.decode import decode_image
from mmface.zoo import convert
from mmface.zoo.build_network import build_network

PAIRS = 150  #: of the first fold, half of them genuine


@pytest.fixture(scope='module')
def recognizer(shared):
    found = convert(shared / 'models/mobilefacenet.pt')
    assert found.family == 'foamliu-mobilefacenet'
    return build_network(found.model, found.weights, 'mobilefacenet.pt')


@pytest.fixture(scope='module')
def pairs(shared):
    """(two names, whether they are of one person) of LFW's first fold: as many of either kind."""
    lines = [line.split() for line in (shared / 'data/lfw_pairs.txt').read_text().splitlines()[1:601]]
    genuine = [(f'{name}/{name}_{int(a):04}.jpg', f'{name}/{name}_{int(b):04}.jpg', True) for name, a, b in lines[:PAIRS // 2]]
    others = [(f'{one}/{one}_{int(a):04}.jpg', f'{two}/{two}_{int(b):04}.jpg', False) for one, a, two, b in lines[300:300 + PAIRS // 2]]
    return genuine + others


@pytest.fixture(scope='module')
def faces(shared, pairs):
    """uint8 RGB [112, 112, 3] by name."""
    wanted = {f'./{name}' for pair in pairs for name in pair[:2]}
    with tarfile.open(shared / 'data/lfw112.tar') as archive:
        return {entry.name[2:]: decode_image(archive.extractfile(entry).read()) for entry in archive if entry.name in wanted}


def prepared(recognizer, images):
    inputs = torch.from_numpy(np.stack(images).transpose(0, 3, 1, 2).copy())
    return recognizer.data_preprocessor(dict(inputs=inputs), False)['inputs']


def test_it_gives_what_the_authors_onnx_file_gives(shared, recognizer, faces):
    import onnxruntime
    session = onnxruntime.InferenceSession(shared / 'models/mobilefacenet.onnx', providers=['CPUExecutionProvider'])
    inputs = prepared(recognizer, list(faces.values())[:8])
    expected = np.concatenate([session.run(None, {session.get_inputs()[0].name: image[None]})[0] for image in inputs.numpy()])
    with torch.no_grad():
        assert np.abs(recognizer(inputs, mode='tensor').numpy() - expected).max() < 1e-5 * np.abs(expected).max()


def test_it_tells_people_apart_as_well_as_the_original(recognizer, faces, pairs):
    names = list(faces)
    with torch.no_grad():
        rows = torch.cat([recognizer(prepared(recognizer, [faces[name] for name in names[at:at + 50]]), mode='tensor')
                          for at in range(0, len(names), 50)])  # yapf: disable
    unit = dict(zip(names, torch.nn.functional.normalize(rows), strict=True))
    scores = np.array([float(unit[one] @ unit[two]) for one, two, _ in pairs])
    genuine = np.array([same for *_, same in pairs])
    best = max(((scores >= threshold) == genuine).mean() for threshold in scores)
    assert best >= .97, 'all ten folds give 98.98 %'

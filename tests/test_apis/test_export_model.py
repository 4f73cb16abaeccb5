"""From a config and a checkpoint to a file, by hand and by the tool."""
import hashlib
import json
import os

import cv2
import numpy as np
import pytest
import torch
from mmengine.config import Config

from mmface.apis import OnnxEmbedder, export_model, init_model
from mmface.export import load_program


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
    with pytest.raises(ValueError, match=r'bad\.pth.*this file was made to run code'):
        init_model(config, tmp_path / 'bad.pth')
    assert not (tmp_path / 'intruded').exists()


@pytest.mark.parametrize('content', [b'', b'junk', b'PK\x03\x04junk'])
def test_a_damaged_checkpoint_is_refused_by_name(config, tmp_path, content):
    (tmp_path / 'bad.pth').write_bytes(content)
    with pytest.raises(ValueError, match=r'bad\.pth: '):
        init_model(config, tmp_path / 'bad.pth')


def test_a_file_of_something_else_and_a_config_without_a_model_are_refused(config, tmp_path):
    torch.save([1, 2], tmp_path / 'list.pth')
    with pytest.raises(ValueError, match=r'list\.pth: holds list'):
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


def test_the_tool_says_1_and_leaves_nothing_where_the_check_fails(run, config, checkpoint, tmp_path):
    code, out, err = run(config, checkpoint, tmp_path / 'small.onnx', '--gate-max-difference', 0)
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


def test_thresholds_go_into_the_file_of_their_network_and_into_no_other(config, checkpoint, tmp_path):
    from mmface.evaluation import write_thresholds
    path = tmp_path / 'a.onnx'
    model = export_model(config, checkpoint, path).metadata['model_id']
    point = dict(far_target=1e-2, far=0.01, similarity=.55, tar=.9, tar_ci95=[.8, .95], genuine=100, impostors=100, false_accepts=1,
                 resolvable=True)
    record = dict(schema=1, model_id=model, protocol_hash='0' * 64, set='toy', score='cosine', rule='accept if s >= t',
                  thresholds=[point, point | dict(far_target=0., far=0., false_accepts=0, similarity='inf', resolvable=False)])
    write_thresholds(record, tmp_path / 'threshold.json')
    export_model(config, checkpoint, path, thresholds=tmp_path / 'threshold.json')
    embedder = OnnxEmbedder(path)
    assert embedder.metadata['thresholds'] == record['thresholds']
    assert embedder.model_id == embedder.metadata['model_id'] == model  # it is the same network
    write_thresholds(record | dict(model_id='1' * 64), tmp_path / 'other.json')
    with pytest.raises(ValueError, match=f'thresholds are of the network {"1" * 64}, this one is {model}'):
        export_model(config, checkpoint, tmp_path / 'b.onnx', thresholds=tmp_path / 'other.json')
    assert not (tmp_path / 'b.onnx').exists()


def pairs_of_colours(folder):
    """A set whose people are colours: red and green say who it is, blue is noise, and 1,200 pairs show a red-blue swap."""
    rng = np.random.default_rng(0)
    (folder / 'set').mkdir()
    names = [f'p{number:03d}' for number in range(60)]
    for name in names:
        (folder / 'set' / name).mkdir()
        colour = rng.integers(60, 196, (1, 1, 3))
        for view in (1, 2, 3):
            image = np.clip(colour + rng.normal(0, [8, 8, 60], (32, 16, 3)) + rng.normal(0, [6, 6, 50]), 0, 255).astype(np.uint8)
            cv2.imwrite(str(folder / 'set' / name / f'{name}_{view:04d}.png'), image[..., ::-1])
    lines = ['10\t60']
    for _ in range(10):
        for name in names:
            first, second = rng.choice(3, 2, replace=False) + 1
            lines.append(f'{name}\t{first}\t{second}')
        for at, name in enumerate(names):
            lines.append(f'{name}\t{rng.integers(1, 4)}\t{names[(at + rng.integers(1, 60)) % 60]}\t{rng.integers(1, 4)}')
    (folder / 'set/pairs.txt').write_text('\n'.join(lines) + '\n')
    return folder / 'set'


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_the_tool_exports_int8_through_the_gate(run, config, checkpoint, trained, tmp_path):
    with torch.no_grad():
        trained.backbone[0].weight *= torch.tensor([.02, 2., 2.])[:, None, None]  # it trusts red and green; its channels are B, G, R
    torch.save(trained.state_dict(), checkpoint)
    gate_set = pairs_of_colours(tmp_path)
    code, out, err = run(config, checkpoint, tmp_path / 'small.onnx', '--precision', 'int8', '--images', gate_set / 'p000',
                         gate_set / 'p001', '--gate-set', gate_set, '--normalize', '--norm', '--gate-max-drop', .05)
    assert (code, err) == (0, ''), err
    assert '600 genuine and 600 impostor pairs' in out
    assert 'gives    embedding [B, 8], normalised, and norm [B]\nnumbers  int8' in out
    gate = OnnxEmbedder(tmp_path / 'small.onnx').metadata['gate']
    assert gate['end_metric']['accuracy']['before'] > .6
    code, _, err = run(config, checkpoint, tmp_path / 'other.onnx', '--precision', 'int8', '--images', gate_set / 'p000')
    assert code == 2
    assert 'needs an end metric to be judged by (--gate-set)' in err
    code, _, err = run(config, checkpoint, tmp_path / 'other.onnx', '--gate-min-cosine', 1.1)
    assert code == 1
    assert 'a cosine of 1.1' in err


def test_a_provider_that_is_not_there_is_said(run, config, checkpoint, tmp_path):
    code, _, err = run(config, checkpoint, tmp_path / 'small.onnx', '--provider', 'tensorrt')
    assert code == 2
    assert 'has no TensorrtExecutionProvider' in err


def test_the_suffix_says_what_is_written(run, config, checkpoint, trained, tmp_path):
    code, out, err = run(config, checkpoint, tmp_path / 'small.pt2')
    assert (code, err) == (0, '')
    assert 'gives    embedding [B, 8]' in out
    module, record = load_program(tmp_path / 'small.pt2')
    crops = np.random.default_rng(0).integers(0, 256, (3, 32, 16, 3), np.uint8)
    inputs = ((crops[..., ::-1].astype(np.float32) - [1, 2, 3]) / [60, 70, 80]).transpose(0, 3, 1, 2)
    with torch.no_grad():
        expected = trained.eval()(torch.from_numpy(np.ascontiguousarray(inputs, np.float32)))
        torch.testing.assert_close(module(torch.from_numpy(crops)), expected, rtol=1e-4, atol=1e-4)
    assert record['config'] == 'small.py'
    code, _, err = run(config, checkpoint, tmp_path / 'small.ts')
    assert code == 2
    assert 'ends in .onnx or .pt2' in err

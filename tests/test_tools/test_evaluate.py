"""tools/evaluate.py from the command line to the file it writes."""
import importlib.util
import json
import re
import shutil
import tarfile
from pathlib import Path

import cv2
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mmface.evaluation import TenFoldVerification
from mmface.structures import PairSet

spec = importlib.util.spec_from_file_location('evaluate_tool', Path(__file__).parents[2] / 'tools/evaluate.py')
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

PERSONS, IMAGES, SIDE = 6, 3, 8


@pytest.fixture(scope='module')
def toy(tmp_path_factory):
    """Two folds of three persons each, an image a colour, and a network that fixes the batch at 1 and averages colours over quadrants."""
    root, random = tmp_path_factory.mktemp('toy'), np.random.default_rng(0)
    for person in range(PERSONS):
        colour = random.integers(0, 256, (2, 2, 3))
        (root / f'images/P{person}').mkdir(parents=True)
        for number in range(1, IMAGES + 1):
            pixels = np.clip(np.kron(colour, np.ones((4, 4, 1))) + random.normal(0, 60, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)
            cv2.imwrite(str(root / f'images/P{person}/P{person}_{number:04d}.png'), pixels)
    lines = ['2 3']
    for fold in range(2):
        persons = [3 * fold + k for k in range(3)]
        lines += [f'P{p} 1 2' for p in persons] + [f'P{p} 1 P{persons[(k + 1) % 3]} 3' for k, p in enumerate(persons)]
    (root / 'pairs.txt').write_text('\n'.join(lines) + '\n')
    nodes = [
        helper.make_node('AveragePool', ['images'], ['pooled'], kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node('Flatten', ['pooled'], ['embedding'])
    ]
    graph = helper.make_graph(nodes, 'toy', [helper.make_tensor_value_info('images', TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
                              [helper.make_tensor_value_info('embedding', TensorProto.FLOAT, [1, 12])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9), root / 'toy.onnx')
    return root


def command(root, *more, color='RGB'):
    return [str(root / 'toy.onnx'), '--pairs', str(root / 'pairs.txt'), '--images', str(root / 'images'),
            *['--mean', '100', '110', '120', '--std', '50', '60', '70', '--color'], color, *more]


def by_hand(root, mirrored=False):
    """The same embeddings from OpenCV and NumPy alone."""
    rows = []
    for person in range(PERSONS):
        for number in range(1, IMAGES + 1):
            rgb = cv2.imread(str(root / f'images/P{person}/P{person}_{number:04d}.png'))[..., ::-1].astype(np.float64)
            if mirrored:
                rgb = rgb[:, ::-1]
            rows.append(((rgb - [100, 110, 120]) / [50, 60, 70]).reshape(2, 4, 2, 4, 3).mean((1, 3)).transpose(2, 0, 1).ravel())
    return np.array(rows)


def pair_set():
    row = lambda person, number: person * IMAGES + number - 1  # noqa: E731
    pairs, same, fold = [], [], []
    for f in range(2):
        persons = [3 * f + k for k in range(3)]
        pairs += [(row(p, 1), row(p, 2)) for p in persons] + [(row(p, 1), row(persons[(k + 1) % 3], 3)) for k, p in enumerate(persons)]
        same += [1] * 3 + [0] * 3
        fold += [f] * 6
    return PairSet('lfw', [str(i) for i in range(PERSONS * IMAGES)], np.array(pairs), np.array(same), np.array(fold))


@pytest.mark.parametrize('rule', ['grid', 'exact'])
@pytest.mark.parametrize('flip', [None, 'add', 'concatenate'])
def test_the_file_holds_what_the_protocol_says(toy, tmp_path, rule, flip, capsys):
    out = tmp_path / 'new/result.json'
    assert tool.main(command(toy, '--rule', rule, '--out', str(out), *(['--flip', flip] if flip else []))) == 0
    found = json.loads(out.read_text())
    expected = TenFoldVerification(rule=rule, flip=flip)(pair_set(), by_hand(toy), by_hand(toy, True) if flip else None)
    assert found['accuracy'] == expected['accuracy']
    assert found['protocol_hash'] == expected['protocol_hash']
    assert found['auc'] == pytest.approx(expected['auc'])
    assert found['eer_threshold'] == pytest.approx(expected['eer_threshold'], abs=1e-5)
    assert found['images'] == 18
    printed = capsys.readouterr().out
    for part in (f'rule={rule}', f'flip={flip}', f'{expected["accuracy"]:.2%}'):
        assert part in printed


def test_what_the_network_was_fed_is_reported(toy, tmp_path):
    out = tmp_path / 'result.json'
    assert tool.main(command(toy, '--out', str(out))) == 0
    model = json.loads(out.read_text())['model']
    assert re.fullmatch('[0-9a-f]{64}', model.pop('model_id'))
    assert model == dict(path=str(toy / 'toy.onnx'), size=[8, 8], color='RGB', mean=[100, 110, 120], std=[50, 60, 70],
                         preprocessing_in_graph=False, providers=['CPUExecutionProvider'])


def test_the_wrong_colour_order_shows(toy, tmp_path):
    thresholds = []
    for color in ('RGB', 'BGR'):
        assert tool.main(command(toy, '--out', str(tmp_path / color), color=color)) == 0
        thresholds.append(json.loads((tmp_path / color).read_text())['eer_threshold'])
    assert thresholds[0] != thresholds[1]


def test_a_picture_is_drawn(toy, tmp_path):
    assert tool.main(command(toy, '--picture', str(tmp_path / 'toy.png'))) == 0
    assert cv2.imread(str(tmp_path / 'toy.png')).shape[1] == 1650


@pytest.mark.parametrize('change, says', [
    (dict(toy='none.onnx'), 'none.onnx: no such file'),
    (dict(images='nowhere'), 'nowhere'),
    (dict(pairs='nopairs.txt'), 'nopairs.txt'),
])
def test_bad_input_is_exit_code_two(toy, tmp_path, change, says, capsys):
    paths = dict(toy='toy.onnx', pairs='pairs.txt', images='images') | change
    given = ['--pairs', str(toy / paths['pairs']), '--images', str(toy / paths['images']), *command(toy)[5:]]
    assert tool.main([str(toy / paths['toy']), *given]) == 2
    error = capsys.readouterr().err
    assert error.startswith('evaluate: ')
    assert says in error


def test_an_image_of_another_size_is_named(toy, tmp_path, capsys):
    images = tmp_path / 'images'
    shutil.copytree(toy / 'images', images)
    cv2.imwrite(str(images / 'P0/P0_0001.png'), np.zeros((9, 8, 3), np.uint8))
    code = tool.main([str(toy / 'toy.onnx'), '--pairs', str(toy / 'pairs.txt'), '--images', str(images), *command(toy)[5:]])
    assert code == 2
    assert 'P0_0001.png is 9 x 8 (height x width), the network eats aligned crops of 8 x 8' in capsys.readouterr().err


def test_a_set_has_to_be_given(toy):
    with pytest.raises(SystemExit) as stop:
        tool.main([str(toy / 'toy.onnx')])
    assert stop.value.code == 2


def test_the_ready_network_tells_the_people_of_lfw_apart(shared, tmp_path):
    """A fifth of a fold: 120 pairs of real faces, where a wrong colour order or scaling would cost several of them."""
    pairs = (shared / 'data/lfw_pairs.txt').read_text().splitlines()
    lines = [*pairs[1:31], *pairs[301:331], *pairs[31:61], *pairs[331:361]]
    (tmp_path / 'pairs.txt').write_text('\n'.join(['2\t30', *lines]) + '\n')
    wanted = {f'./{name}/{name}_{int(number):04d}.jpg' for line in lines for name, number in images_of(line.split('\t'))}
    with tarfile.open(shared / 'data/lfw112.tar') as archive:
        archive.extractall(tmp_path, [member for member in archive if member.name in wanted], filter='data')
    preprocessing = ['--mean', '123.675', '116.28', '103.53', '--std', '58.395', '57.12', '57.375', '--color', 'RGB', '--threads', '1']
    network, out = str(shared / 'models/mobilefacenet.onnx'), str(tmp_path / 'out.json')
    assert tool.main([network, '--images', str(tmp_path), '--out', out, *preprocessing]) == 0
    assert json.loads((tmp_path / 'out.json').read_text())['auc'] > 0.99


def images_of(fields):
    return [(fields[0], fields[1]), (fields[0], fields[2])] if len(fields) == 3 else [(fields[0], fields[1]), (fields[2], fields[3])]

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


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for every test."""
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path / 'home'))
    return tmp_path / 'home/mmface/embeddings'


def result_of(path):
    """The one result in a file of the tool."""
    record = json.loads(path.read_text())
    assert record['schema'] == 1
    result, = record['results']
    return result


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
    found = result_of(out)
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
    model = result_of(out)['model']
    assert re.fullmatch('[0-9a-f]{64}', model.pop('model_id'))
    assert model == dict(path=str(toy / 'toy.onnx'), size=[8, 8], color='RGB', mean=[100, 110, 120], std=[50, 60, 70], template='arcface',
                         preprocessing_in_graph=False, providers=['CPUExecutionProvider'])


def test_the_wrong_colour_order_shows(toy, tmp_path):
    thresholds = []
    for color in ('RGB', 'BGR'):
        assert tool.main(command(toy, '--out', str(tmp_path / color), color=color)) == 0
        thresholds.append(result_of(tmp_path / color)['eer_threshold'])
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
    assert result_of(tmp_path / 'out.json')['auc'] > 0.99


def images_of(fields):
    return [(fields[0], fields[1]), (fields[0], fields[2])] if len(fields) == 3 else [(fields[0], fields[1]), (fields[2], fields[3])]


def embedding_file(toy, path, mirrored=False):
    """What the network gives, in a file with names."""
    names = [f'P{person}/P{person}_{number:04d}.png' for person in range(PERSONS) for number in range(1, IMAGES + 1)]
    rows = dict(embeddings=by_hand(toy).astype(np.float32), names=np.array(names))
    np.savez(path, **rows, **(dict(mirrored=by_hand(toy, True).astype(np.float32)) if mirrored else {}))
    return str(path)


def test_embeddings_are_kept_and_found_again_by_content(toy, tmp_path, cache, monkeypatch):
    calls = []
    from mmface.apis.onnx_backend import OnnxEmbedder
    embed = OnnxEmbedder.embed
    monkeypatch.setattr(OnnxEmbedder, 'embed', lambda self, images: calls.append(len(images)) or embed(self, images))

    def accuracy(root, *more):
        calls.clear()
        assert tool.main(command(root, '--out', str(tmp_path / 'r.json'), *more)) == 0
        return result_of(tmp_path / 'r.json')['eer_threshold'], sum(calls)

    first, computed = accuracy(toy)
    assert computed == 18
    assert accuracy(toy) == (first, 0)
    assert accuracy(toy, '--rule', 'exact') == (first, 0)  # a matter of the protocol, not of the embeddings
    assert accuracy(toy, '--no-cache') == (first, 18)
    assert accuracy(toy, '--cache', str(tmp_path / 'elsewhere')) == (first, 18)
    assert accuracy(toy, '--flip', 'add')[1] == 18  # the mirror images alone
    shutil.copytree(toy, tmp_path / 'copy')
    assert accuracy(tmp_path / 'copy') == (first, 0)  # the same bytes in another place
    cv2.imwrite(str(tmp_path / 'copy/images/P0/P0_0001.png'), np.zeros((SIDE, SIDE, 3), np.uint8))
    other, computed = accuracy(tmp_path / 'copy')
    assert other != first
    assert computed == 18
    calls.clear()
    assert tool.main(command(toy, color='BGR')) == 0
    assert sum(calls) == 18


@pytest.mark.parametrize('damage', [lambda data: data[:-40], lambda data: b'', lambda data: data[:200] + b'!' + data[201:]])
def test_a_damaged_entry_of_the_cache_is_computed_anew(toy, tmp_path, cache, damage):
    assert tool.main(command(toy, '--out', str(tmp_path / 'a.json'))) == 0
    entry, = cache.glob('*/*.npz')
    entry.write_bytes(damage(entry.read_bytes()))
    assert tool.main(command(toy, '--out', str(tmp_path / 'b.json'))) == 0
    assert result_of(tmp_path / 'a.json') == result_of(tmp_path / 'b.json')
    with np.load(entry) as whole:
        assert whole['embeddings'].shape == (18, 12)


@pytest.mark.parametrize('flip', [None, 'add'])
def test_a_file_of_embeddings_gives_the_numbers_of_its_network(toy, tmp_path, flip):
    more = ['--flip', flip] if flip else []
    assert tool.main(command(toy, '--out', str(tmp_path / 'network.json'), *more)) == 0
    file = embedding_file(toy, tmp_path / 'rows.npz', mirrored=True)
    given = [file, '--set', str(toy / 'pairs.txt'), f'images={toy}/images', '--out', str(tmp_path / 'file.json'), *more]
    assert tool.main(given) == 0
    network, rows = result_of(tmp_path / 'network.json'), result_of(tmp_path / 'file.json')
    assert rows['accuracy'] == network['accuracy']
    assert rows['auc'] == pytest.approx(network['auc'])
    assert rows['model']['embeddings'] == [18, 12]


@pytest.mark.parametrize('more, says', [
    (['--mean', '1', '1', '1'], '--mean is for networks'),
    (['--flip', 'add'], 'the file has none of their embeddings'),
    (['--thresholds', 'none/t.json'], 'does not say which network'),
    (['--switch', 'flop=1'], 'has the switch flop; there are bootstrap, fars'),
    (['--switch', 'flop'], "'flop' is not KEY=VALUE"),
    (['--groups', 'nowhere.csv'], 'nowhere.csv'),
])
def test_what_cannot_be_is_said(toy, tmp_path, more, says, capsys):
    file = embedding_file(toy, tmp_path / 'rows.npz')
    assert tool.main([file, '--set', str(toy / 'pairs.txt'), f'images={toy}/images', *more]) == 2
    assert says in capsys.readouterr().err


def test_a_flag_that_contradicts_the_file_is_refused(toy, tmp_path, capsys):
    from mmface.export import write_metadata
    model = onnx.load(toy / 'toy.onnx')
    write_metadata(model, dict(schema=1, input=dict(color='BGR', mean=[100, 110, 120], std=[50, 60, 70], size=[8, 8]),
                               preprocessing_in_graph=False))
    onnx.save(model, tmp_path / 'told.onnx')
    assert tool.main([str(tmp_path / 'told.onnx'), *command(toy)[1:]]) == 2
    assert 'color RGB was given, but the file is made for BGR' in capsys.readouterr().err


def test_several_models_on_several_sets_in_one_run(toy, tmp_path, capsys):
    rows = by_hand(toy)
    worse = rows + np.random.default_rng(0).normal(size=rows.shape)
    np.save(tmp_path / 'good.npy', rows.astype(np.float32))
    np.save(tmp_path / 'worse.npy', worse.astype(np.float32))
    sets = [['--set', str(toy / 'pairs.txt'), f'images={toy}/images', f'name={name}'] for name in ('one', 'two')]
    out, scores = tmp_path / 'r.json', tmp_path / 's.npz'
    files = ['--out', str(out), '--scores', str(scores)]
    given = [str(tmp_path / 'good.npy'), str(tmp_path / 'worse.npy'), *sets[0], *sets[1], '--bootstrap', '20', *files]
    assert tool.main(given) == 0
    printed = capsys.readouterr().out
    record = json.loads(out.read_text())
    assert [(Path(result['model']['path']).stem, result['set']) for result in record['results']] == [
        ('good', 'one'), ('worse', 'one'), ('good', 'two'), ('worse', 'two')]
    assert [(comparison['models'], comparison['set']) for comparison in record['comparisons']] == [
        (['good', 'worse'], 'one'), (['good', 'worse'], 'two')]
    for comparison, (first, second) in zip(record['comparisons'], (record['results'][:2], record['results'][2:]), strict=True):
        assert comparison['accuracy'] == pytest.approx(second['accuracy'] - first['accuracy'])
        assert comparison['bootstrap'] == dict(replicates=20, seed=0)
    assert record['averages'] == []
    assert printed.count('mcnemar, p value') == 2
    with np.load(scores) as arrays:
        assert set(arrays) == {f'{model}/{name}/{part}' for model in ('good', 'worse') for name in ('one', 'two')
                               for part in ('similarity', 'same')}  # yapf: disable
        expected = TenFoldVerification().similarity(pair_set(), rows.astype(np.float32))
        np.testing.assert_allclose(arrays['good/two/similarity'], expected, rtol=0, atol=1e-12)


def test_the_five_sets_of_adaface_have_their_average(toy, tmp_path, capsys):
    np.save(tmp_path / 'rows.npy', by_hand(toy).astype(np.float32))
    names = ['lfw', 'CFP-FP', 'cplfw', 'agedb_30', 'calfw']
    sets = [part for name in names for part in ('--set', str(toy / 'pairs.txt'), f'images={toy}/images', f'name={name}')]
    assert tool.main([str(tmp_path / 'rows.npy'), *sets, '--out', str(tmp_path / 'r.json')]) == 0
    record = json.loads((tmp_path / 'r.json').read_text())
    average, = record['averages']
    assert (average['model'], average['average']) == ('rows', 'high_quality')
    assert average['value'] == pytest.approx(np.mean([result['accuracy'] for result in record['results']]))
    assert 'high quality average' in capsys.readouterr().out


def test_groups_are_read_from_a_list_and_compared(toy, tmp_path, capsys):
    file = embedding_file(toy, tmp_path / 'rows.npz')
    (tmp_path / 'groups.csv').write_text('identity,group\n' + ''.join(f'P{p},{"north" if p < 3 else "south"}\n' for p in range(PERSONS)))
    given = [file, '--set', str(toy / 'pairs.txt'), f'images={toy}/images', '--groups', str(tmp_path / 'groups.csv')]
    given += ['--group-threshold', '0.5']
    assert tool.main([*given, '--out', str(tmp_path / 'r.json'), '--report', str(tmp_path / 'r.html'), '--no-images']) == 0
    assert 'north' in (tmp_path / 'r.html').read_text()
    groups = result_of(tmp_path / 'r.json')['groups']
    assert groups['threshold'] == 0.5
    assert {name: rates['genuine'] for name, rates in groups['by_group'].items()} == dict(north=3, south=3)
    assert 'by group, north, fmr' in capsys.readouterr().out
    assert tool.main(given[:4]) == 0
    assert re.search(r'^groups +not measured$', capsys.readouterr().out, re.MULTILINE)


def test_thresholds_and_json_are_for_programs(toy, tmp_path, capsys):
    from mmface.evaluation import read_thresholds
    assert tool.main(command(toy, '--json', '--thresholds', str(tmp_path / 't.json'), '--far', '0.5')) == 0
    result, = json.loads(capsys.readouterr().out)['results']
    record = read_thresholds(tmp_path / 't.json', result['model']['model_id'])
    assert record['thresholds'] == result['tar_at_far']
    assert record['protocol_hash'] == result['protocol_hash']


def test_templates_are_verified_and_identified(shared, tmp_path):
    root = shared / 'reference/fixtures/ijb/IJBC'
    files = ['--out', str(tmp_path / 'r.json'), '--report', str(tmp_path / 'r.html')]
    assert tool.main([str(root / 'embeddings.npy'), '--split', '--set', str(root), 'lists_only=true', '--far', '0.01', *files]) == 0
    verified, identified = json.loads((tmp_path / 'r.json').read_text())['results']
    assert verified['switches']['protocol'] == 'template_verification'
    assert verified['tar_at_far'][0]['tar'] == pytest.approx(14 / 36)  # InsightFace's thinned curve gives 17 / 36
    assert identified['switches']['protocol'] == 'template_identification'
    assert identified['galleries']['G2']['rank1'] == pytest.approx(13 / 18)
    assert 'ijbc, template identification' in (tmp_path / 'r.html').read_text()
    without_scores = [str(root / 'embeddings.npy'), '--split', '--set', str(root), 'lists_only=true', '--preset', 'adaface', '--json']
    assert tool.main([*without_scores, '--out', str(tmp_path / 'adaface.json')]) == 0
    switches = json.loads((tmp_path / 'adaface.json').read_text())['results'][0]['switches']
    assert (switches['keep_norm'], switches['use_det_score'], switches['flip']) == (True, False, 'add')


def test_ijbs_has_its_own_protocol_and_its_average(shared, tmp_path, capsys):
    root = shared / 'reference/fixtures/ijb/IJBS'
    given = [str(root / 'embeddings.npy'), '--set', str(root), 'name=video', '--switch', 'failure_to_enrol=zero', '--json']
    assert tool.main(given) == 0
    record = json.loads(capsys.readouterr().out)
    assert record['results'][0]['switches']['protocol'] == 'ijbs_identification'
    assert [average['average'] for average in record['averages']] == ['low_quality_adaface', 'low_quality_strict']


def test_searches_have_theirs(shared, tmp_path, capsys):
    root = shared / 'reference/fixtures/ident/tinyface'
    rows = np.concatenate([np.load(root / f'{kind}_embeddings.npy') for kind in ('probe', 'gallery', 'distractor')])
    np.save(tmp_path / 'rows.npy', rows)
    assert tool.main([str(tmp_path / 'rows.npy'), '--set', str(root / 'tinyface'), '--json']) == 0
    result, = json.loads(capsys.readouterr().out)['results']
    assert result['rank1'] == pytest.approx(13 / 31)
    assert result['switches']['protocol'] == 'tinyface_identification'


def test_loose_crops_are_aligned_to_the_networks_template(shared, tmp_path, capsys):
    from mmface.datasets import open_eval
    from mmface.evaluation import TemplateVerification
    from mmface.functional.geometry import align_face
    root = shared / 'reference/fixtures/ijb/IJBC'
    nodes = [helper.make_node('AveragePool', ['images'], ['pooled'], kernel_shape=[16, 16], strides=[16, 16]),
             helper.make_node('Flatten', ['pooled'], ['embedding'])]
    graph = helper.make_graph(nodes, 'toy', [helper.make_tensor_value_info('images', TensorProto.FLOAT, ['b', 3, 112, 112])],
                              [helper.make_tensor_value_info('embedding', TensorProto.FLOAT, ['b', 147])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9), tmp_path / 'toy.onnx')
    input_of_network = ['--mean', *['127.5'] * 3, '--std', *['127.5'] * 3, '--color', 'RGB']
    assert tool.main([str(tmp_path / 'toy.onnx'), '--set', str(root), '--json', '--threads', '1', *input_of_network]) == 0
    found = json.loads(capsys.readouterr().out)['results'][0]
    templates = open_eval(root)
    crops = [align_face(cv2.imread(path)[..., ::-1], points) for path, points in zip(templates.paths, templates.landmarks, strict=True)]
    pooled = (np.stack(crops).astype(np.float64) / 127.5 - 1).reshape(-1, 7, 16, 7, 16, 3).mean((2, 4))
    plain, mirrored = (rows.transpose(0, 3, 1, 2).reshape(len(crops), -1) for rows in (pooled, pooled[:, :, ::-1]))
    expected = TemplateVerification()(templates, plain, mirrored)
    assert found['auc'] == pytest.approx(expected['auc'], abs=1e-3)
    assert found['eer_threshold'] == pytest.approx(expected['eer_threshold'], abs=1e-5)

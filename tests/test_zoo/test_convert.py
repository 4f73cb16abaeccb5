"""What comes with the converted weights: manifest, licence, head, warnings; and what is said where nothing fits."""
import argparse
import hashlib
import json
import runpy
import sys
from pathlib import Path

import pytest
import torch

from mmface.commands.convert import FAMILIES
from mmface.models.backbones.iresnet import DEPTHS
from mmface.utils.data_format_error import DataFormatError
from mmface.zoo import ModelPair, convert, write_foreign
from mmface.zoo.layouts import LAYOUTS
from mmface.zoo.training_sets import CLASSES, check_classes

sys.path.insert(0, str(Path(__file__).parent))
import published

UNKNOWN = dict(code='unknown', weights='unknown', data='unknown')


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setitem(DEPTHS['basic'], 18, (1, 2, 1, 1))


@pytest.fixture(scope='module')
def adaface():
    return published.fill(published.ir()).state_dict()


@pytest.fixture(scope='module')
def iresnet():
    return published.fill(published.iresnet()).state_dict()


def prefixed(state, prefix):
    return {prefix + key: value for key, value in state.items()}


def save(path, content):
    torch.save(content, path)
    return path


def lightning(state, classes=7, **more):
    """As AdaFace's trainer leaves it: hyper-parameters in a class, head and statistics beside the network."""
    head = {'head.kernel': torch.arange(24. * classes).view(24, classes), 'head.t': torch.zeros(1), 'head.batch_mean': torch.zeros(1)}
    return {'state_dict': prefixed(state, 'model.') | head, 'hyper_parameters': argparse.Namespace(arch='ir_18'), **more}


def test_the_manifest_says_what_it_is_and_where_it_comes_from(adaface, tmp_path):
    path = save(tmp_path / 'a.ckpt', lightning(adaface))
    found = convert(path, training_set='my faces', licence=dict(code='MIT', data='research only'))
    written = found.write(tmp_path / 'out/ours.safetensors')
    record = json.loads(written.with_suffix('.json').read_text())
    assert record['schema'] == 1 and record['family'] == 'adaface' and record['created_by'].startswith('mmface ')
    assert record['input'] == dict(size=[32, 32], color='BGR', mean=[127.5] * 3, std=[127.5] * 3, template='arcface')
    assert record['licence'] == dict(code='MIT', weights='unknown', data='research only')
    assert (record['training_set'], record['num_classes']) == ('my faces', 7)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert record['source'] == dict(file='a.ckpt', sha256=sha256, project='AdaFace (IR)', prefix='model.')
    assert record['weights_sha256'] == hashlib.sha256(written.read_bytes()).hexdigest()
    assert sorted(file.name for file in written.parent.iterdir()) == ['ours.json', 'ours.safetensors']
    assert found.model == {**record['model'], 'data_preprocessor': found.model['data_preprocessor']}


def test_the_head_is_left_out_unless_asked_for(adaface, tmp_path):
    path = save(tmp_path / 'a.ckpt', lightning(adaface))
    found = convert(path)
    assert not any(key.startswith('head') for key in found.weights) and found.manifest.num_classes == 7
    assert any('left out: the head of 7 classes' in note for note in found.notes)
    kept = convert(path, keep_head=True).weights['head.weight']
    assert torch.equal(kept, torch.arange(24. * 7).view(24, 7).T) and kept.is_contiguous()
    assert not any('templates of people' in note for note in convert(path, keep_head=True).notes)


def test_heads_of_either_orientation_are_found_beside_any_network(iresnet, tmp_path):
    for head in (torch.ones(24, 9), torch.ones(9, 24)):
        state = prefixed(iresnet, 'features.module.') | {'fc.weight': head}
        assert convert(save(tmp_path / 'a.pth', {'state_dict': state})).manifest.num_classes == 9


def test_what_was_not_read_is_said(adaface, iresnet, tmp_path):
    notes = '\n'.join(convert(save(tmp_path / 'a.ckpt', lightning(adaface))).notes)
    assert 'named by the file and not executed: argparse.Namespace' in notes
    assert 'head.t, head.batch_mean' in notes and 'say so with --family' not in notes
    notes = convert(save(tmp_path / 'b.pt', {'state_dict_backbone': iresnet, 'state_dict_softmax_fc': {'weight': torch.ones(9, 24)}})).notes
    assert any('tools/model_converters/head.py' in note for note in notes)
    assert any('also those of magface' in note and 'say so with --family' in note for note in notes)
    token = published.VisionTransformer(mask=True).state_dict()
    assert any('mask_token' in note for note in convert(save(tmp_path / 'c.pt', token)).notes)


@pytest.mark.parametrize(('training_set', 'classes', 'said'), [
    ('MS1MV2', 85_742, ''), ('ms1m-v2', 85_742, ''), ('CASIA-WebFace', 10_572, ''), ('casia', 10_575, ''), ('my faces', 85_742, ''),
    ('unknown', 7, ''), ('unknown', 93_431, 'as many as MS1MV3'), ('WebFace12M', 1, '1 classes, but WebFace12M has 617970: is'),
    ('MS1MV2', 205_990, '205990 classes, but MS1MV2 has 85742; 205990 is that of WebFace4M'),
    ('WebFace4M', 2_059_906, '2059906 is that of WebFace42M'), ('Glint360K', 10_575, '10575 is that of CASIA-WebFace')])
def test_a_head_that_contradicts_the_training_set_is_noticed(training_set, classes, said):
    warning = check_classes(training_set, classes)
    assert said in warning and bool(said) == bool(warning)


def test_the_contradiction_is_among_the_notes(adaface, tmp_path):
    path = save(tmp_path / 'a.ckpt', lightning(adaface))
    assert any('the head has 7 classes, but MS1MV2 has 85742' in note for note in convert(path, training_set='MS1MV2').notes)
    assert CLASSES['WebFace42M'] == (2_059_906, )


def test_licence_and_origin_survive_both_directions(adaface, tmp_path):
    terms = dict(code='MIT', weights='research', data='none granted')
    found = convert(save(tmp_path / 'a.ckpt', lightning(adaface)), training_set='MS1MV2', licence=terms)
    back = write_foreign(ModelPair.read(found.write(tmp_path / 'ours.safetensors')), 'adaface', tmp_path / 'theirs.ckpt')
    assert json.loads((tmp_path / 'theirs.ckpt.json').read_text())['licence'] == terms
    again = convert(back)
    assert (again.manifest.licence, again.manifest.training_set, again.manifest.num_classes) == (terms, 'MS1MV2', 7)
    assert convert(back, licence=dict(weights='MIT')).manifest.licence == dict(terms, weights='MIT')
    back.write_bytes(save(tmp_path / 'other.ckpt', lightning(adaface, 8)).read_bytes())  # a manifest speaks for its own file alone
    assert convert(back).manifest.licence == UNKNOWN
    (tmp_path / 'other.ckpt.json').write_text('[1, 2]')
    assert convert(tmp_path / 'other.ckpt').manifest.licence == UNKNOWN
    with pytest.raises(ValueError, match=r"a licence of \['weight'\]"):
        convert(back, licence=dict(weight='MIT'))


def test_the_input_can_be_told(adaface, tmp_path):
    found = convert(save(tmp_path / 'a.pt', adaface), 'adaface', color='RGB', mean=(1, 2, 3), std=(4, 5, 6))
    assert found.manifest.input == dict(size=(32, 32), color='RGB', mean=(1, 2, 3), std=(4, 5, 6), template='arcface')
    assert convert(save(tmp_path / 'a.pt', adaface)).manifest.input['color'] == 'RGB'
    assert convert(save(tmp_path / 'a.pt', adaface), 'adaface').manifest.input['color'] == 'BGR'


def difference(path, *arguments, **options):
    with pytest.raises(DataFormatError) as error:
        convert(path, *arguments, **options)
    assert str(error.value).startswith(f'{path}: ')
    return str(error.value)


def test_where_nothing_fits_the_difference_is_shown_key_by_key(iresnet, adaface, tmp_path):
    broken = dict(iresnet)
    del broken['layer3.0.bn2.weight']
    broken['layer2.0.extra.weight'] = torch.ones(2)
    broken['bn2.weight'] = torch.ones(5)
    shown = difference(save(tmp_path / 'a.pt', broken))
    assert 'compared with InsightFace (iresnet): 1 keys missing, 1 unexpected, 1 of another shape' in shown
    assert '\n- layer3.0.bn2.weight\n+ layer2.0.extra.weight\n! bn2.weight: [5] in the file, [512] in the network' in shown
    renamed = {key.replace('res_layer', 'residual'): value for key, value in adaface.items()}
    shown = difference(save(tmp_path / 'b.pt', prefixed(renamed, 'net.')))
    assert '(IR): ' in shown and '\n+ body.0.residual.0.bias\n' in shown and ' more\n' in shown
    shown = difference(save(tmp_path / 'c.pt', {f'a.{at}': torch.ones(1) for at in range(100)}))
    assert 'none of the layouts adaface, ' in shown and 'has any of its 100 keys: a.0, a.1, a.2, a.3, a.4 ...' in shown


def test_networks_that_mmface_has_not_are_called_by_their_numbers(iresnet, tmp_path):
    assert 'an IResNet with [2, 2, 1, 1] basic units' in difference(
        save(tmp_path / 'a.pt', iresnet | {key.replace('layer1.0', 'layer1.1'): value for key, value in iresnet.items()}))
    wide = dict(iresnet, **{'fc.weight': torch.ones(24, 512 * 6)})
    assert '3072 inputs, which is no square map of 512 channels' in difference(save(tmp_path / 'b.pt', wide))
    del wide['fc.weight']
    assert 'InsightFace (iresnet) without fc.weight' in difference(save(tmp_path / 'c.pt', wide))


def test_a_file_of_several_networks_needs_to_be_told_which(iresnet, tmp_path):
    path = save(tmp_path / 'a.pt', prefixed(iresnet, 'teacher.') | prefixed(iresnet, 'student.'))
    assert "several networks, under the prefixes 'student.', 'teacher.': say which (--prefix)" in difference(path)
    assert convert(path, prefix='teacher.').manifest.source['prefix'] == 'teacher.'
    assert "'nobody' is none of " in difference(path, 'nobody')


def test_batch_counters_that_old_files_lack_are_zero(iresnet, tmp_path):
    old = {key: value for key, value in iresnet.items() if not key.endswith('num_batches_tracked')}
    weights = convert(save(tmp_path / 'a.pt', old)).weights
    assert {int(value) for key, value in weights.items() if key.endswith('num_batches_tracked')} == {0}


@pytest.fixture
def tool(root_tools, capsys):
    def run(*arguments):
        code = root_tools(list(map(str, arguments)))
        return code, *capsys.readouterr()
    return run


@pytest.fixture
def root_tools():
    return runpy.run_path(str(Path(__file__).parents[2] / 'tools/model_converters/convert.py'))['main']


def test_the_tool_converts_and_says_what_it_did(tool, adaface, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / 'a.ckpt', lightning(adaface))
    code, out, _ = tool('a.ckpt', '--training-set', 'MS1MV2', '--licence-code', 'MIT')
    assert code == 0 and 'family     adaface' in out and '32 x 32 BGR' in out and 'licence    code: MIT\nlicence    weights: unknown' in out
    assert 'note       the head has 7 classes, but MS1MV2 has 85742' in out and (tmp_path / 'a.safetensors').is_file()
    code, out, _ = tool('a.safetensors', '--to', 'cvlface', '--licence-weights', 'CC-BY-4.0')
    assert code == 0 and 'weights: CC-BY-4.0' in out and 'trained on MS1MV2, 7 classes' in out
    assert set(torch.load('a_cvlface.pt', weights_only=True)) == set(prefixed(adaface, 'net.'))
    code, _, err = tool('a.safetensors', '--to', 'insightface')
    assert code == 2 and 'InsightFace (iresnet) has no IResNet with ' in err and not (tmp_path / 'a_insightface.pt').exists()


def test_a_training_of_ours_becomes_a_file_of_insightface(tool, iresnet, tmp_path):
    ours = convert(save(tmp_path / 'a.pt', iresnet)).weights
    save(tmp_path / 'epoch_1.pth', {'state_dict': ours | {'head.weight': torch.ones(5, 24)}, 'meta': {}})
    (tmp_path / 'config.py').write_text("model = dict(type='FaceRecognizer', backbone=dict(type='IResNet', depth=18), "
                                        "neck=dict(type='FaceNeck', feat_size=2, out_channels=24), head=dict(type='FaceClsHead'))")
    code, *_ = tool(tmp_path / 'epoch_1.pth', '--config', tmp_path / 'config.py', '--to', 'insightface', '--out', tmp_path / 'backbone.pth')
    found = torch.load(tmp_path / 'backbone.pth', weights_only=True)
    assert code == 0 and found.keys() == iresnet.keys() and all(torch.equal(value, found[key]) for key, value in iresnet.items())


@pytest.mark.parametrize(('model', 'words'), [
    ("backbone=dict(type='MobileFaceNet'), neck=dict(type='GDCNeck')", 'has no MobileFaceNet, only IResNet'),
    ("backbone=dict(type='IResNet', depth=18), neck=dict(type='mmpretrain.GlobalAveragePooling')", 'has no GlobalAveragePooling'),
    ("backbone=dict(type='IResNet', depth=18)", 'has no network without a neck'),
])
def test_a_network_of_another_kind_is_refused_by_name(model, words, tool, tmp_path):
    save(tmp_path / 'epoch_1.pth', {'state_dict': {'backbone.conv1.weight': torch.ones(1)}, 'meta': {}})
    (tmp_path / 'config.py').write_text(f"model = dict(type='FaceRecognizer', {model})")
    code, _, err = tool(tmp_path / 'epoch_1.pth', '--config', tmp_path / 'config.py', '--to', 'insightface', '--out', tmp_path / 'x.pt')
    assert code == 2 and f'InsightFace (iresnet) {words}' in err and 'Traceback' not in err and not (tmp_path / 'x.pt').exists()


def test_a_checkpoint_to_train_on_from_is_written_where_the_name_says_so(iresnet, tmp_path):
    found = convert(save(tmp_path / 'a.pt', iresnet), licence=dict(code='MIT'))
    written = found.write(tmp_path / 'ours.pth')
    checkpoint = torch.load(written, weights_only=True)
    assert checkpoint.keys() == {'state_dict', 'meta'} and checkpoint['state_dict'].keys() == found.weights.keys()
    record = json.loads((tmp_path / 'ours.pth.json').read_text())
    assert record['weights_sha256'] == hashlib.sha256(written.read_bytes()).hexdigest() and record['licence']['code'] == 'MIT'
    assert ModelPair.read(found.write(tmp_path / 'ours.safetensors')).manifest.weights_sha256 != record['weights_sha256']
    found.write(tmp_path / 'ours.pth')  # the pair of that name stays one
    ModelPair.read(tmp_path / 'ours.safetensors')
    with pytest.raises(ValueError, match=r'a pair is NAME\.safetensors and NAME\.json'):
        found.write(tmp_path / 'ours.bin')


def test_the_command_knows_every_family():
    assert set(FAMILIES) == set(LAYOUTS)


def test_bad_usage_ends_with_two(tool, tmp_path):
    assert tool(tmp_path / 'absent.pt')[0] == 2
    (tmp_path / 'a.pt').write_bytes(b'<html>')
    code, _, err = tool(tmp_path / 'a.pt')
    assert code == 2 and 'a page of HTML' in err
    with pytest.raises(SystemExit, match='2'):
        tool(tmp_path / 'a.pt', '--config', 'x.py')

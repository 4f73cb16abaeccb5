"""The checker: finds nothing in our zoo, and finds each fault that is put into an entry."""
import dataclasses
import runpy
from pathlib import Path

import pytest

from mmface.zoo import Origin, Result
from mmface.zoo.checker import check_index, computed_fields, write_fields, zoo_table
from mmface.zoo.checker.complexity import complexity
from mmface.zoo.entry import LicenceTerms
from mmface.zoo.model_index import ModelIndex

SHIPPED, THEIRS = 'arcface_mobilefacenet_procedural', 'adaface_iresnet100_3rdparty-cvlface_webface12m'
REBUILT = 'arcface_mobilefacenet_1xb64_lfw-holdout10'


@pytest.mark.slow
def test_every_entry_of_the_zoo_says_what_its_config_says(index):
    assert check_index(index) == []


def test_a_network_costs_what_its_authors_say():
    """FaceX-Zoo counts 43.57 M parameters and 6.31 G multiply-adds for ResNet50-ir, InsightFace 6.3 G for r50."""
    found = complexity(dict(type='FaceRecognizer', backbone=dict(type='IResNet', depth=50), neck=dict(type='FaceNeck', in_channels=512)))
    assert found.dim == 512
    assert found.parameters / 1e6 == pytest.approx(43.59, abs=.01)
    assert found.flops / 1e9 == pytest.approx(6.31, abs=.01)


@pytest.mark.parametrize(('name', 'change', 'words'), [
    (SHIPPED, dict(name='Arcface_x'), 'capital letters'),
    (SHIPPED, dict(config='configs/demo/none.py'), 'its config is called none'),
    (SHIPPED, dict(config='configs/demo/none.py'), 'there is no configs/demo/none.py'),
    (SHIPPED, dict(licence=LicenceTerms('', 'x', 'y')), "the licence of the code is ''"),
    (SHIPPED, dict(licence=LicenceTerms('MIT', 'x', 'y')), 'the licence of its manifest is'),
    (SHIPPED, dict(paper={}), 'no Paper with Title and URL'),
    (SHIPPED, dict(sha256='0' * 64), 'SHA256 and Size are not those of zoo/weights'),
    (SHIPPED, dict(sha256='xyz'), 'expected 64 hexadecimal digits'),
    (SHIPPED, dict(size=-1), 'expected a number of bytes'),
    (SHIPPED, dict(weights='zoo/weights/none.safetensors'), 'the package has no zoo/weights/none'),
    (SHIPPED, dict(rebuild='make'), 'has weights and rebuild'),
    (SHIPPED, dict(mirrors=('host/x', )), "'host/x' is no address"),
    (SHIPPED, dict(metadata={}), 'Parameters is None, its config gives 280256'),
    (SHIPPED, dict(metadata={'Classes': 601}), 'Classes is 601, its config gives 600'),
    (SHIPPED, dict(results=(Result('t', 'LFW', {'Accuracy': 1}), )), "'LFW' has no protocol or no source"),
    (SHIPPED, dict(results=(Result('t', 'LFW', {'Accuracy': 'high'}, 'p', 's'), )), 'metrics that are no numbers'),
    (SHIPPED, dict(config='configs/_base_/models/mobilefacenet.py'), "the docstring of its config says no 'paper'"),
    (SHIPPED, dict(config='configs/_base_/default_runtime.py'), 'its config does not build'),
    (REBUILT, dict(card=None), 'its model card  is not there'),
    (REBUILT, dict(card='configs/arcface/README.md'), "its model card has no '## Intended uses'"),
    (THEIRS, dict(converter='nobody'), "Converter 'nobody' is none of"),
    (THEIRS, dict(converter=None), 'has neither Config nor Converter'),
    (THEIRS, dict(origin=None), 'Origin and Converter go together'),
    (THEIRS, dict(origin=Origin('x', 'here')), "its origin 'here' is no address"),
    (THEIRS, dict(weights=None), 'SHA256, Size or Mirrors of no Weights'),
    (THEIRS, dict(results=(Result('t', 'LFW', {'Accuracy': 1}, 'p', 'we think so'), )), 'its source is a page of theirs'),
])
def test_each_fault_is_found(index, monkeypatch, name, change, words):
    monkeypatch.setitem(index.entries, name, dataclasses.replace(index.entries[name], **change))
    faults = check_index(index, [name])
    assert any(words in fault for fault in faults), faults


CONFIG = '''"""A config. Paper: x. Command: y. Expected: z."""
model = dict(type='FaceRecognizer', backbone=dict(type='MobileFaceNet', width=.125, stem_stride=4, out_channels=16),
             neck=dict(type='GDCNeck', in_channels=16, feat_size=4, out_channels=8), data_preprocessor=dict(type='FaceDataPreprocessor'),
             head=dict(type='FaceClsHead', num_classes=5, in_channels=8, loss=dict(type='ArcFaceLoss')))
train_dataloader = dict(batch_size=4)
train_cfg = dict(max_epochs=3)
'''
METAFILE = """# a comment
Collections:
- Name: C
  Paper: {Title: t, URL: https://a.b/c}
  Licence: {Code: MIT, Weights: MIT, Data: unknown}
Models:
- Name: first_2xb4
  In Collection: C
  Config: first_2xb4.py
  Results: []
- Name: second
  In Collection: C  # stays
  Config: second.py
  Metadata:
    Training Data: few
    Epochs: 99
  Results: []
"""


@pytest.fixture
def small(tmp_path):
    for name in ('first_2xb4', 'second'):
        (tmp_path / f'{name}.py').write_text(CONFIG)
    (tmp_path / 'metafile.yml').write_text(METAFILE)
    (tmp_path / 'model-index.yml').write_text('Import: [metafile.yml]')
    return tmp_path


def test_computed_fields_are_filled_in_and_everything_else_stays(small):
    metafile = small / 'metafile.yml'
    assert write_fields(metafile, small) == ['first_2xb4', 'second']
    assert write_fields(metafile, small) == []
    index = ModelIndex(small / 'model-index.yml')
    assert check_index(index) == []
    found = computed_fields(small / 'first_2xb4.py')
    assert (found['Classes'], found['Batch Size'], found['Epochs']) == (5, 8, 3)
    assert index.find('second').metadata == {'Training Data': 'few', **found, 'Batch Size': 4}
    kept = [line for line in metafile.read_text().splitlines() if not any(f' {name}:' in line for name in found)]
    assert [line for line in kept if line != '  Metadata:'] == [
        line for line in METAFILE.splitlines() if line not in ('  Metadata:', '    Epochs: 99')]  # yapf: disable


def test_a_config_that_contradicts_itself_is_found(small):
    (small / 'first_2xb4.py').write_text(CONFIG.replace('batch_size=4', 'batch_size=6'))
    with pytest.raises(ValueError, match='its name says 4 images on each device, its train_dataloader 6'):
        computed_fields(small / 'first_2xb4.py')
    (small / 'second.py').write_text(CONFIG.replace('num_classes=5, in_channels=8', 'num_classes=5, in_channels=9'))
    with pytest.raises(ValueError, match='its head takes embeddings of 9 numbers, its network gives 8'):
        computed_fields(small / 'second.py')


def test_the_table_has_a_line_a_model_and_says_whose_it_is(index):
    lines = zoo_table([index.find(SHIPPED), index.find(THEIRS)]).rpartition('\n\n')[2].splitlines()
    assert len(lines) == 4
    assert '95.33' in lines[2] and '| shipped |' in lines[2] and lines[2].endswith('| ours |')
    assert 'LFW 99.82' in lines[3] and lines[3].endswith('theirs |')


def test_the_table_in_the_docs_is_the_one_that_the_command_writes(index):
    written = Path(__file__).resolve().parents[2] / 'docs/model_zoo_table.md'
    assert written.read_text(encoding='utf-8') == f'{zoo_table(index.find(name) for name in index.names())}\n', (
        'run: python tools/analysis/check_zoo.py --table > docs/model_zoo_table.md')


def test_the_tool_names_faults_and_returns_1(index, monkeypatch, capsys):
    main = runpy.run_path(str(Path(__file__).resolve().parents[2] / 'tools/analysis/check_zoo.py'))['main']
    assert main([THEIRS]) == 0
    monkeypatch.setitem(index.entries, THEIRS, dataclasses.replace(index.entries[THEIRS], converter='nobody'))
    assert main([THEIRS]) == 1
    assert "Converter 'nobody'" in capsys.readouterr().out
    assert main(['no-such-model']) == 2

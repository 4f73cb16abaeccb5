"""The index: what metafiles say, and what is wrong with them."""
from pathlib import Path

import pytest

from mmface.zoo import MetafileError, ModelIndex

METAFILE = """
Collections:
- Name: ArcFace
  Metadata: {Architecture: [IResNet], Training Data: unknown}
  Paper: {Title: A title, URL: https://arxiv.org/abs/1}
  Licence: {Code: MIT, Weights: unknown, Data: unknown}
Models:
- Name: arcface_small
  In Collection: ArcFace
  Config: configs/arcface/arcface_small.py
  Metadata: {Training Data: ten people}
  Results:
  - {Task: Face Verification, Dataset: LFW, Metrics: {Accuracy: 99.5}, Protocol: ten folds, Source: a command}
- Name: arcface_theirs
  In Collection: ArcFace
  Origin: {Project: somebody/project, URL: https://github.com/somebody/project}
  Licence: {Code: MIT, Weights: research only, Data: unknown}
  Weights: https://host/backbone.pth
  Converter: insightface
  Results: []
"""


@pytest.fixture
def write(tmp_path):
    """Writes an index of one metafile."""

    def _write(text: str = METAFILE) -> Path:
        (tmp_path / 'configs/arcface').mkdir(parents=True, exist_ok=True)
        (tmp_path / 'configs/arcface/metafile.yml').write_text(text)
        (tmp_path / 'model-index.yml').write_text('Import:\n  - configs/arcface/metafile.yml\n')
        return tmp_path / 'model-index.yml'

    return _write


def test_an_entry_has_what_its_metafile_says_and_what_its_collection_says_beside(write):
    index = ModelIndex(write())
    small, theirs = index.find('arcface_small'), index.find('arcface_theirs')
    assert small.metadata == {'Architecture': ['IResNet'], 'Training Data': 'ten people'}
    assert theirs.metadata['Training Data'] == 'unknown'
    assert small.paper == theirs.paper == dict(Title='A title', URL='https://arxiv.org/abs/1')
    assert str(small.licence) == 'code MIT, weights unknown, data unknown'
    assert theirs.licence.weights == 'research only'
    assert small.results[0].metrics == dict(Accuracy=99.5)
    assert small.tasks == ('Face Verification', )
    assert small.config_path == index.root / 'configs/arcface/arcface_small.py'
    assert (small.origin, theirs.origin.project) == (None, 'somebody/project')


@pytest.mark.parametrize(('line', 'status'), [
    ('Weights: https://host/x.pth', 'unverified'),
    (f'Weights: https://host/x.pth\n  SHA256: {"a" * 64}', 'download'),
    ('Weights: zoo/weights/x.safetensors', 'shipped'),
    ('Page: https://drive/x', 'by hand'),
    ('Rebuild: make it', 'rebuild'),
    ('Mirrors: []', 'config only'),
])
def test_how_one_comes_by_the_weights(write, line, status):
    text = METAFILE.replace('  Weights: https://host/backbone.pth', f'  {line}')
    assert ModelIndex(write(text)).find('arcface_theirs').status == status


def test_names_are_listed_by_pattern_and_task(write):
    index = ModelIndex(write())
    assert index.names() == ['arcface_small', 'arcface_theirs']
    assert index.names('SMALL') == index.names('arcface_s*') == index.names(task='face verification') == ['arcface_small']
    assert index.names('small*') == index.names(task='Face Identification') == []
    assert 'arcface_small' in index and 'small' not in index


@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('  Licence: {Code: MIT, Weights: unknown, Data: unknown}\n', '', r"arcface_small: no 'Licence'"),
    ('  Converter: insightface', '  Convertor: insightface', r"arcface_theirs: unknown field 'Convertor'"),
    ('In Collection: ArcFace\n  Config', 'In Collection: CosFace\n  Config', r"no collection 'CosFace' \(there is ArcFace\)"),
    ('Name: arcface_theirs', 'Name: arcface_small', "the name 'arcface_small' is taken"),
    ('{Code: MIT, Weights: research only, Data: unknown}', '{Code: MIT}', r'arcface_theirs, Licence: .* does not fit'),
    ('Protocol: ten folds', 'Protokoll: ten folds', r'Results\[0\].*does not fit'),
    ('Models:', 'Models: [', 'metafile.yml: not YAML'),
    ('ten people', '!!python/object/apply:os.getcwd []', 'metafile.yml: not YAML'),  # which mmengine.fileio.load would call
])
def test_what_is_wrong_is_named_with_file_and_model(write, old, new, words):
    assert old in METAFILE
    with pytest.raises(MetafileError, match=words):
        ModelIndex(write(METAFILE.replace(old, new, 1)))


def test_a_metafile_that_is_not_there_is_named(tmp_path):
    (tmp_path / 'model-index.yml').write_text('Import: [configs/none/metafile.yml]')
    with pytest.raises(FileNotFoundError, match=r'none/metafile.yml'):
        ModelIndex(tmp_path / 'model-index.yml')

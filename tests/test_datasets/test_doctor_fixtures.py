"""The doctor on every malformed input of the reference material: kind and facts are those that are expected."""
import json
import re
from pathlib import Path

import pytest

from mmface.datasets.doctor import examine

FIXTURES = Path(__file__).resolve().parents[3] / 'shared/reference/fixtures'
ADVERSARIAL = FIXTURES / 'adversarial'
WORDS = ('nan', 'finite', 'underflow', 'truncated', 'empty', 'object', 'JSON error', 'no entry', 'no record magic', 'negative offset',
         'not an image', 'no such file', 'byte order', 'the same pair', 'paired with itself', 'mismatched pair', 'distractor', 'missing',
         'continuation', 'incomplete frame', 'not closed', 'beyond', 'weight 0')


def entries() -> list:
    found = {}
    for file in (ADVERSARIAL / 'expected.json', ADVERSARIAL / 'tinyface/expected.json'):
        if file.is_file():
            content = json.loads(file.read_text())
            found.update(content if file.parent == ADVERSARIAL else {file.parent.name: content})
    return [pytest.param(kind, name, entry['kind'], entry['must'], lists_only, id=f'{kind}-{name}' + '-lists only' * lists_only)
            for kind, of_kind in found.items() for name, entry in of_kind.items()
            for lists_only in ([False, True] if kind in ('ijb', 'pairs', 'tinyface') else [False])]


def facts(must: str) -> list[str]:
    """What a message has to name: files, numbers, and the words that say what is wrong."""
    must = re.sub(r'\((peers|numbers|metadata)[^)]*\)', '', must)
    named = re.findall(r'[\w.]+\.(?:rec|idx|txt|csv|npy|jpg|mat|conf)\b|-?\d+(?:\.\d+)?', must)
    return named + [word for word in WORDS if word in must]


def path_of(kind: str, name: str) -> Path:
    exact = ADVERSARIAL / kind / name
    return exact if exact.exists() else next(path for path in exact.parent.glob(f'{name}.*'))


@pytest.mark.parametrize('kind, name, expected, must, lists_only', entries())
def test_a_malformed_input_is_reported_as_expected(kind, name, expected, must, lists_only):
    diagnosis = examine(path_of(kind, name), lists_only=lists_only)
    found = {kind: [finding.message for finding in diagnosis.findings if finding.kind == kind] for kind in ('error', 'warn')}
    assert diagnosis.trainable is (expected != 'error'), found
    if expected == 'ok':
        assert found == {'error': [], 'warn': []}
    else:
        missing = [[fact for fact in facts(must) if fact not in message] for message in found[expected]]
        assert [] in missing, (must, found[expected], missing)


def test_there_are_entries_where_the_material_is(shared):
    assert len(entries()) > 70
    assert facts('train.idx line 3: offset 99999999 beyond train.rec') == ['train.idx', '3', '99999999', 'train.rec', 'beyond']


@pytest.mark.parametrize('folder', ['dialects', 'damaged', 'malicious'])
def test_packs_are_sound_or_reported_by_name(shared, folder):
    wrong = []
    for path in sorted((FIXTURES / 'bin' / folder).iterdir()):
        diagnosis = examine(path)
        named = all(path.name in finding.message for finding in diagnosis.findings if finding.kind == 'error')
        if diagnosis.format != 'bin' or diagnosis.trainable is (folder != 'dialects') or not named:
            wrong.append((path.name, str(diagnosis)))
    assert wrong == []


@pytest.mark.parametrize('path, format, images, classes', [
    ('rec/insightface', 'recordio', 18, 6),
    ('folder/CASIA-WebFace', 'folder', 8, 4),
    ('pairs/lfw', 'lfw', 44, None),
    ('pairs/cfp', 'cfp', None, None),
    ('ijb/IJBC', 'ijb', 128, None),
    ('ident/tinyface/tinyface', 'tinyface', None, None),
    ('ident/megaface', 'megaface', None, None),
    ('ident/scface', 'scface', None, None),
    ('bin/mini_lfw.bin', 'bin', 80, None),
    ('pairs/lfw/embeddings.npy', 'embeddings', 0, None),
])
def test_the_sound_sets_of_each_kind_are_recognised_without_error(shared, path, format, images, classes):
    diagnosis = examine(FIXTURES / path)
    assert diagnosis.format == format
    assert [finding.message for finding in diagnosis.findings if finding.kind == 'error' and finding.check == 'structure'] == []
    assert images in (None, diagnosis.num_images)
    assert classes in (None, diagnosis.num_classes)

"""threshold.json: what goes in comes out, and nothing else gets in."""
import copy
import json

import numpy as np
import pytest

from mmface.evaluation import TenFoldVerification, read_thresholds, threshold_record, write_thresholds
from mmface.structures import PairSet

MODEL, OTHER = 'a1' * 32, 'b2' * 32


def some_result(**switches):
    pairs = np.random.default_rng(0).integers(0, 30, (200, 2))
    pair_set = PairSet('toy', [str(i) for i in range(30)], pairs, np.arange(200) % 2 == 0, np.arange(200) // 20)
    return TenFoldVerification(**switches)(pair_set, np.random.default_rng(1).normal(size=(30, 6)))


@pytest.fixture
def path(tmp_path):
    write_thresholds(threshold_record(some_result(fars=(0.1, 0.01, 1e-6)), MODEL), tmp_path / 'new/threshold.json')
    return tmp_path / 'new/threshold.json'


def test_the_file_is_the_schema(path):
    record, result = json.loads(path.read_text()), some_result(fars=(0.1, 0.01, 1e-6))
    assert {key: value for key, value in record.items() if key != 'thresholds'} == dict(
        schema=1, model_id=MODEL, protocol_hash=result['protocol_hash'], set='toy', score='cosine', rule='accept if s >= t')
    assert [list(point) for point in record['thresholds']] == 3 * [
        ['far_target', 'far', 'similarity', 'tar', 'tar_ci95', 'genuine', 'impostors', 'false_accepts', 'resolvable']]
    assert record['thresholds'][0] == result['tar_at_far'][0]
    assert [point['resolvable'] for point in record['thresholds']] == [True, True, False]


def test_what_was_written_is_read_for_this_network_and_for_no_other(path):
    assert read_thresholds(path, MODEL) == read_thresholds(path) == json.loads(path.read_text())
    with pytest.raises(ValueError, match=f'threshold.json: its thresholds are of the network {MODEL}, this one is {OTHER}'):
        read_thresholds(path, OTHER)


def test_a_threshold_that_accepts_nothing_is_written_as_text(tmp_path):
    result = some_result()
    result['tar_at_far'][0]['similarity'] = float('inf')
    write_thresholds(threshold_record(result, MODEL), tmp_path / 'threshold.json')
    assert json.loads((tmp_path / 'threshold.json').read_text())['thresholds'][0]['similarity'] == 'inf'
    assert float(read_thresholds(tmp_path / 'threshold.json')['thresholds'][0]['similarity']) == float('inf')


def edited(path, *place_and_value):
    """The file with one value changed, or the key removed where the value is ``...``."""
    record = json.loads(path.read_text())
    *place, last, value = place_and_value
    inner = record
    for key in place:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    path.write_text(json.dumps(record))
    return path


@pytest.mark.parametrize('place_and_value, says', [
    (('schema', 2), 'schema is 2'),
    (('schema', True), 'schema is True'),
    (('model_id', 'A1' * 32), 'model_id is'),
    (('protocol_hash', 'short'), "protocol_hash is 'short', expected 64"),
    (('set', ''), "set is ''"),
    (('score', 'distance'), "score is 'distance', expected 'cosine'"),
    (('rule', 'accept if s > t'), "expected 'accept if s >= t'"),
    (('thresholds', []), 'thresholds is'),
    (('thresholds', {}), 'thresholds is'),
    (('set', ...), 'expected the keys schema, model_id'),
    (('comment', 'x'), 'expected the keys'),
    (('thresholds', 1, 'similarity', 1.5), 'threshold 1: similarity is 1.5'),
    (('thresholds', 1, 'similarity', '0.3'), "threshold 1: similarity is '0.3'"),
    (('thresholds', 1, 'similarity', float('nan')), 'threshold 1: similarity is nan'),
    (('thresholds', 0, 'far', 0.2), 'threshold 0: .* are not a FAR of 0.2'),
    (('thresholds', 0, 'tar_ci95', [0.9, 0.1]), 'threshold 0: tar_ci95'),
    (('thresholds', 0, 'false_accepts', -1), 'threshold 0: false_accepts is -1'),
    (('thresholds', 0, 'impostors', 0), 'threshold 0: .* of 0 impostors'),
    (('thresholds', 0, 'genuine', 1.0), 'threshold 0: genuine is 1.0'),
    (('thresholds', 0, 'resolvable', 1), 'threshold 0: resolvable is 1'),
    (('thresholds', 0, 'tar', ...), 'threshold 0: expected the keys far_target'),
    (('thresholds', 1, 'far_target', 0.1), 'two thresholds for the FAR 0.1'),
])
def test_every_value_is_checked_and_named(path, place_and_value, says):
    with pytest.raises(ValueError, match=rf'threshold\.json: .*{says}|threshold\.json: {says}'):
        read_thresholds(edited(path, *place_and_value))


@pytest.mark.parametrize('content', [b'', b'{', b'[1]', b'null', b'\xff\xfe', b'{"schema": 1}'])
def test_another_file_is_refused(tmp_path, content):
    (tmp_path / 'threshold.json').write_bytes(content)
    with pytest.raises(ValueError, match=r'threshold\.json'):
        read_thresholds(tmp_path / 'threshold.json')
    with pytest.raises(FileNotFoundError):
        read_thresholds(tmp_path / 'none.json')


def test_a_result_without_thresholds_or_a_model_without_name_gives_no_file():
    result = some_result()
    with pytest.raises(ValueError, match='model_id is None'):
        threshold_record(result, None)
    without = copy.copy(result)
    del without['tar_at_far']
    with pytest.raises(ValueError, match='the result on toy has no thresholds'):
        threshold_record(without, MODEL)

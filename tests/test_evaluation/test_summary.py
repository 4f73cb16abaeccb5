"""What is printed and written says what was counted."""
import json

import numpy as np

from mmface.evaluation import TenFoldVerification, result_json, verification_summary
from mmface.structures import PairSet


def some_result(**switches):
    pairs = np.array([[0, 1], [0, 2], [2, 3], [1, 3]])
    pair_set = PairSet('small', ['a', 'b', 'c', 'd'], pairs, np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1]))
    return TenFoldVerification(**switches)(pair_set, np.random.default_rng(0).normal(size=(4, 6)))


def test_the_summary_holds_every_switch_and_marks_what_cannot_be_resolved():
    result = some_result(fars=(0.5, 1e-3))
    lines = verification_summary(result).splitlines()
    for name, value in result['switches'].items():
        assert any(f'{name}={value}' in line for line in lines)
    assert result['protocol_hash'] in lines[-1]
    assert f'{result["accuracy"]:.2%}' in lines[1]
    marked = [line for line in lines if 'too few impostors' in line]
    assert [line.split()[0] for line in marked] == ['TAR@FAR=1e-3', 'VAL@FAR=1e-3']


def test_json_has_no_infinity():
    result = dict(some_result(), nested=[dict(similarity=float('inf')), (float('-inf'), 1)])
    written = json.loads(result_json(result), parse_constant=lambda name: 1 / 0)
    assert written['nested'] == [dict(similarity='inf'), ['-inf', 1]]
    assert written['accuracy'] == result['accuracy']

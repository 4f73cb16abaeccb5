"""What is printed and written says what was counted."""
import json

import numpy as np
import pytest

from mmface.evaluation import TenFoldVerification, result_json, result_summary
from mmface.structures import PairSet


def some_result(groups=None, **switches):
    pairs = np.array([[0, 1], [0, 2], [2, 3], [1, 3]])
    pair_set = PairSet('small', ['a', 'b', 'c', 'd'], pairs, np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1]), groups=groups)
    return TenFoldVerification(**switches)(pair_set, np.random.default_rng(0).normal(size=(4, 6)))


def lines_of(result):
    return {line[:34].strip(): line[34:] for line in result_summary(result).splitlines()}


def test_the_summary_holds_every_switch_and_marks_what_cannot_be_resolved():
    result = some_result(fars=(0.5, 1e-3))
    lines = lines_of(result)
    for name, value in result['switches'].items():
        assert f'{name}={value}' in lines['switches']
    assert result['protocol_hash'] in lines['protocol']
    low, high = result['accuracy_ci95']
    assert lines['accuracy'] == f'{result["accuracy"]:.2%}  ({low:.2%} to {high:.2%})'
    assert [name for name, text in lines.items() if 'too few impostors' in text] == ['TAR@FAR=1e-3']
    assert lines['val at far, resolvable'] == 'no'
    assert lines['intervals'] == 'pairs are treated as independent'


def test_what_was_not_measured_is_said():
    assert lines_of(some_result())['groups'] == 'not measured'
    lines = lines_of(some_result(groups=['x', 'x', 'y', 'y']))
    assert lines['groups, without group'] == '2'
    assert lines['groups, by group, x, fmr'] == 'not measured'
    assert lines['groups, by group, x, fnmr'].endswith('%)')


def test_an_operating_point_has_the_uncertainty_of_its_false_accepts():
    point = dict(far_target=1e-3, far=0.001, similarity=0.3, tar=0.9, tar_ci95=[0.8, 0.95], genuine=100, impostors=3000, false_accepts=3,
                 resolvable=True)
    result = dict(set='x', tar_at_far=[point, point | dict(far_target=1e-4, far=0., false_accepts=0, resolvable=False)], switches={},
                  protocol_hash='0')
    lines = lines_of(result)
    assert lines['TAR@FAR=1e-3'] == '90.00%  (80.00% to 95.00%), 3 of 3,000 impostors (0.10%, 0.02% to 0.29%), cosine 0.3000'
    assert '0 of 3,000 impostors (below 0.10% by the rule of three)' in lines['TAR@FAR=1e-4']


def test_a_protocol_written_tomorrow_has_its_summary():
    point = dict(fpir_target=0.01, fpir=0., similarity=0.5, tpir=0.7, tpir_ci95=[0.6, 0.8], mated=50, nonmated=200, false_alarms=1,
                 resolvable=True)
    result = dict(set='x', mated=1234, rank1=0.5, rank1_ci95=[0.4, 0.6], open_set=dict(G1=[point]), flag=True, spread_ratio=2.5,
                  list=[1, 2], switches=dict(a=1), protocol_hash='0')
    lines = lines_of(result)
    expected = ['1,234', '50.00%  (40.00% to 60.00%)', 'yes', '2.50 times']
    assert [lines[name] for name in ('mated', 'rank1', 'flag', 'spread ratio')] == expected
    assert lines['open set, TPIR@FPIR=1e-2'].startswith('70.00%  (60.00% to 80.00%), 1 of 200 nonmated (0.50%')


@pytest.mark.parametrize('switches', [dict(), dict(bootstrap=5)])
def test_json_has_no_infinity(switches):
    result = dict(some_result(**switches), nested=[dict(similarity=float('inf')), (float('-inf'), 1)])
    written = json.loads(result_json(result), parse_constant=lambda name: 1 / 0)
    assert written['nested'] == [dict(similarity='inf'), ['-inf', 1]]
    assert written['accuracy'] == result['accuracy']

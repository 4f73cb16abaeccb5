"""Every score set of the reference, number by number."""
import json

import numpy as np
import pytest

from mmface.functional.equal_error_rate import equal_error_rate
from mmface.functional.intervals import wilson_interval
from mmface.functional.operating_point import interpolated_tar, tar_at_far, tar_at_nearest_far
from mmface.functional.roc import auc, roc_curve
from mmface.functional.scores import split_scores

CASES = ('all_equal', 'dissimilarity_negated', 'float32_collision', 'inverted', 'nearest_exceeds_target', 'negative_zero', 'perfect',
         'random_300', 'target_below_one_impostor', 'ties_at_operating_point')
ERRORS = dict(empty='no scores', inf='score 1', label_2='label 1 is 2', length='2 scores, but 1 labels', nan='score 1',
              no_genuine='no genuine', no_impostor='no impostor')
exactly = dict(rel=0, abs=1e-12)


@pytest.fixture(scope='module')
def reference(shared):
    return json.loads((shared / 'reference/fixtures/scores/expected.json').read_text())


def test_no_case_of_the_reference_is_left_out(reference):
    assert set(reference['cases']) == set(CASES)
    assert set(reference['errors']) == set(ERRORS)


def check_operating_points(scores, labels, expected):
    genuine, impostor = split_scores(scores, labels)
    roc = roc_curve(genuine, impostor)
    assert (roc.genuine, roc.impostors) == (expected['genuine'], expected['impostor'])
    for target, want in expected['at'].items():
        for rule, function in (('strict', tar_at_far), ('nearest', tar_at_nearest_far)):
            point = function(roc, float(target))
            assert (point.false_accepts, point.true_accepts) == (want[rule]['false_accepts'], want[rule]['true_accepts']), (target, rule)
            assert point.far == pytest.approx(want[rule]['far'], **exactly)
            assert point.tar == pytest.approx(want[rule]['tar'], **exactly)
            assert point.threshold == pytest.approx(float(want[rule]['threshold']), **exactly)
        assert interpolated_tar(roc, float(target)) == pytest.approx(want['interpolated_tar'], **exactly)


@pytest.mark.parametrize('case', CASES)
def test_operating_points_are_those_of_the_reference(reference, case):
    case = reference['cases'][case]
    check_operating_points(case['scores'], case['labels'], case['expected'])


def test_scores_that_collide_in_float32_are_ties_there(reference):
    case = reference['cases']['float32_collision']
    check_operating_points(np.float32(case['scores']), case['labels'], case['in_float32'])


@pytest.mark.parametrize('case', CASES)
def test_auc_and_both_equal_error_rates_are_those_of_the_reference(reference, case):
    case = reference['cases'][case]
    genuine, impostor = split_scores(case['scores'], case['labels'])
    assert auc(genuine, impostor) == pytest.approx(case['auc'], **exactly)
    found, want = equal_error_rate(roc_curve(genuine, impostor)), case['eer']['mid']
    assert found.cross == pytest.approx(case['eer']['cross'], **exactly)
    assert (found.mid, found.fmr, found.fnmr) == pytest.approx((want['eer'], want['fmr'], want['fnmr']), **exactly)
    assert found.threshold == pytest.approx(float(want['threshold']), **exactly)


@pytest.mark.parametrize('name, says', ERRORS.items())
def test_unusable_scores_are_refused_by_name(reference, name, says):
    case = reference['errors'][name]
    with pytest.raises(ValueError, match=says):
        split_scores(np.array(case['scores'], dtype=float), np.array(case['labels']))


def test_wilson_intervals_are_those_of_the_reference(reference):
    assert len(reference['intervals']) == 7
    for case in reference['intervals']:
        assert wilson_interval(case['k'], case['n']) == pytest.approx(case['wilson95'], **exactly)

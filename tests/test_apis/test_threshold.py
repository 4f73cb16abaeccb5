"""Where a threshold may come from."""
import pytest

from mmface.apis import Threshold, choose_threshold

TWO = dict(thresholds=[dict(far_target=1e-3, similarity=.31), dict(far_target=1e-4, similarity=.42)])
UNRESOLVED = dict(thresholds=[dict(far_target=1e-6, similarity='inf', impostors=300, resolvable=False)])
ONE = dict(thresholds=TWO['thresholds'][:1])


def test_the_callers_threshold_comes_before_the_files():
    assert choose_threshold(ONE, given=.5) == Threshold(.5, 'given by --threshold')


def test_a_single_entry_of_the_file_is_taken_and_its_rate_named():
    assert choose_threshold(ONE) == Threshold(.31, 'in the model file, for a false accept rate of 0.001')


def test_the_false_accept_rate_chooses_among_several():
    assert choose_threshold(TWO, far=1e-4).value == .42


@pytest.mark.parametrize('metadata', [{}, dict(thresholds=[])])
def test_there_is_no_default(metadata):
    assert choose_threshold(metadata) is None


@pytest.mark.parametrize('metadata, given, far, words', [
    (TWO, None, None, r'0\.0001, 0\.001: choose with --far'),
    (TWO, None, 1e-5, r'no threshold for a false accept rate of 1e-05; it has: 0\.0001, 0\.001'),
    ({}, None, 1e-5, 'it has: none'),
    ({}, 1.2, None, r'-1 to 1, got 1\.2'),
    ({}, float('nan'), None, 'got nan'),
    (ONE, .3, 1e-3, 'give one of them'),
    (UNRESOLVED, None, 1e-6, r'the model file: 300 impostors are too few for a false accept rate of 1e-06'),
])
def test_what_cannot_be_decided_is_refused(metadata, given, far, words):
    with pytest.raises(ValueError, match=words):
        choose_threshold(metadata, given, far)


def test_an_entry_that_was_not_resolved_is_never_taken_unasked():
    assert choose_threshold(UNRESOLVED) is None
    assert choose_threshold(dict(thresholds=ONE['thresholds'] + UNRESOLVED['thresholds'])).value == .31


def test_a_file_beside_the_model_is_named():
    assert choose_threshold(ONE, where='t.json').source == 'in t.json, for a false accept rate of 0.001'

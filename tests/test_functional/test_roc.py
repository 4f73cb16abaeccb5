"""The ROC against scikit-learn, against counting by hand, and its properties."""
import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as sklearn_roc_curve

from mmface.functional.equal_error_rate import equal_error_rate
from mmface.functional.intervals import wilson_interval
from mmface.functional.operating_point import OperatingPoint, far_text, interpolated_tar, tar_at_far, tar_at_nearest_far
from mmface.functional.roc import auc, error_rates, roc_curve


def some_scores(seed=0, genuine=70, impostors=130):
    """Rounded, so that there are ties within and between the two kinds."""
    random = np.random.default_rng(seed)
    return np.round(random.normal(0.6, 0.3, genuine), 1), np.round(random.normal(0.1, 0.3, impostors), 1)


def joined(genuine, impostor):
    return np.repeat([1, 0], [len(genuine), len(impostor)]), np.concatenate([genuine, impostor])


def test_the_curve_is_scikit_learns_unthinned_one():
    genuine, impostor = some_scores()
    roc = roc_curve(genuine, impostor)
    far, tar, thresholds = sklearn_roc_curve(*joined(genuine, impostor), drop_intermediate=False)
    np.testing.assert_allclose(roc.far, far, rtol=0, atol=1e-15)
    np.testing.assert_allclose(roc.tar, tar, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(roc.thresholds, thresholds)


def test_auc_is_scikit_learns():
    for seed in range(5):
        genuine, impostor = some_scores(seed)
        assert auc(genuine, impostor) == pytest.approx(roc_auc_score(*joined(genuine, impostor)), rel=0, abs=1e-12)


def test_every_point_counts_what_it_accepts():
    genuine, impostor = some_scores()
    roc = roc_curve(genuine, impostor)
    for threshold, false_accepts, true_accepts in zip(roc.thresholds, roc.false_accepts, roc.true_accepts, strict=True):
        assert false_accepts == sum(s >= threshold for s in impostor)
        assert true_accepts == sum(s >= threshold for s in genuine)


def test_error_rates_accept_a_score_equal_to_the_threshold():
    fmr, fnmr = error_rates(np.array([0.5, 0.7]), np.array([0.1, 0.5, 0.5, 0.2]), np.array([0.5, -1, 2]))
    np.testing.assert_array_equal(fmr, [0.5, 1, 0])
    np.testing.assert_array_equal(fnmr, [0, 0, 1])


def test_a_genuine_pair_that_failed_to_enrol_is_never_accepted_above_minus_infinity():
    roc = roc_curve(np.array([0.9, -np.inf]), np.array([0.1, 0.2]))
    assert tar_at_far(roc, 0.5).tar == 0.5


@pytest.mark.parametrize('genuine, impostor', [([], [0.1]), ([0.1], []), ([np.nan], [0.1]), ([0.1], [0.2, np.nan])])
def test_a_roc_of_nothing_or_of_nan_is_refused(genuine, impostor):
    with pytest.raises(ValueError, match=r'a ROC needs (genuine|impostor) scores'):
        roc_curve(np.array(genuine), np.array(impostor))


def test_the_strict_tar_is_the_largest_whose_far_keeps_the_target():
    for seed in range(5):
        genuine, impostor = some_scores(seed)
        roc = roc_curve(genuine, impostor)
        for target in (0, 0.001, 0.01, 0.05, 0.1, 0.29, 0.5, 1):
            allowed = [t for t in (np.inf, *genuine, *impostor) if np.mean(impostor >= t) <= target]
            point = tar_at_far(roc, target)
            assert point.tar == max(np.mean(genuine >= t) for t in allowed)
            assert point.threshold == max(t for t in allowed if np.mean(genuine >= t) == point.tar)


def test_a_target_that_is_a_whole_number_of_impostors_is_kept_exactly():
    impostor = np.arange(100) / 100
    roc = roc_curve(impostor + 0.001, impostor)
    for k in range(1, 100):  # 0.29 * 100 is 28.999... in floating point
        assert tar_at_far(roc, k / 100).false_accepts == k


def test_the_nearest_rule_may_exceed_the_target_and_the_strict_one_may_not():
    roc = roc_curve(np.array([0.9, 0.5, 0.4]), np.array([0.6, 0.45, 0.1, 0.0]))
    assert (tar_at_far(roc, 0.45).far, tar_at_nearest_far(roc, 0.45).far) == (0.25, 0.5)


@pytest.mark.parametrize('rule', [tar_at_far, tar_at_nearest_far, interpolated_tar])
def test_the_head_of_a_curve_says_what_the_whole_curve_says_or_nothing(rule):
    for seed in range(3):
        genuine, impostor = some_scores(seed, 70, 400)
        whole, head = roc_curve(genuine, impostor), roc_curve(genuine, impostor, max_far=0.4)
        assert len(head.impostor_scores) == 161
        for target in (0, 0.001, 0.01, 0.05, 0.1):
            assert rule(head, target) == rule(whole, target)
        for beyond in (lambda: rule(head, 0.5), lambda: head.auc, lambda: head.thresholds, lambda: head.false_accepts_at(-1)):  # noqa: B023
            with pytest.raises(ValueError, match='from the highest 161 of 400 impostor scores'):
                beyond()


def test_float32_scores_are_compared_as_they_are():
    genuine, impostor = (kind.astype(np.float32) for kind in some_scores())
    single, double = roc_curve(genuine, impostor), roc_curve(genuine.astype(float), impostor.astype(float))
    assert single.impostor_scores.dtype == np.float32
    assert equal_error_rate(single) == equal_error_rate(double)
    for target in (0, 0.01, 0.1, 1):
        assert tar_at_far(single, target) == tar_at_far(double, target)
    for threshold in (0.3, float(np.float32(0.3)), -2, 2, -np.inf, np.inf):  # 0.3 lies between two float32
        assert single.false_accepts_at(threshold) == sum(float(s) >= threshold for s in impostor)


def test_what_failed_to_enrol_is_accepted_at_no_far():
    roc = roc_curve(np.array([0.9, -np.inf]), np.array([0.1, 0.2, -np.inf]))
    for rule in (tar_at_far, tar_at_nearest_far):
        assert (rule(roc, 1).tar, rule(roc, 1).far) == (0.5, 2 / 3 if rule is tar_at_nearest_far else 0)


@pytest.mark.parametrize('far', [-0.1, 1.5, float('nan')])
def test_a_far_is_a_fraction(far):
    with pytest.raises(ValueError, match='fraction'):
        tar_at_far(roc_curve(np.array([1.]), np.array([0.])), far)


def test_a_far_below_one_impostor_is_marked_as_unresolvable():
    point = OperatingPoint(1e-3, 0.5, 0, 10, 20, 999)
    assert not point.resolvable
    assert OperatingPoint(1e-3, 0.5, 0, 10, 20, 1000).resolvable
    assert point.to_dict() == dict(far_target=1e-3, far=0., similarity=0.5, tar=0.5, tar_ci95=list(wilson_interval(10, 20)), genuine=20,
                                   impostors=999, false_accepts=0, resolvable=False)


def test_the_two_equal_error_rates_agree_within_one_score():
    for seed in range(20):
        genuine, impostor = some_scores(seed, 40, 90)
        apart = np.random.default_rng(seed).uniform(0, 1e-3, 130)  # breaks the ties
        found = equal_error_rate(roc_curve(genuine + apart[:40], impostor + apart[40:]))
        assert abs(found.mid - found.cross) <= 1 / 40


def test_wilsons_interval_holds_the_share_and_refuses_what_is_none():
    for successes in range(11):
        low, high = wilson_interval(successes, 10)
        assert 0 <= low <= successes / 10 <= high <= 1
    for successes, trials in ((0, 0), (3, 2), (-1, 2)):
        with pytest.raises(ValueError, match='not a proportion'):
            wilson_interval(successes, trials)


def test_fars_are_written_as_in_papers():
    assert [far_text(far) for far in (1e-1, 1e-3, 0.05, 1e-6, 1)] == ['1e-1', '1e-3', '5e-2', '1e-6', '1e0']


@pytest.mark.parametrize('dtype', [np.float32, np.float64])
def test_scores_of_zero_are_counted_right_where_denormals_are_flushed(dtype):
    genuine, impostor = np.array([0., .3], dtype), np.array([-.3, -0.], dtype)
    torch.set_flush_denormal(True)  # as the training tools do
    try:
        found = equal_error_rate(roc_curve(genuine, impostor))
    finally:
        torch.set_flush_denormal(False)
    assert (found.mid, found.fmr, found.fnmr) == (.25, 0, .5)

"""Open-set rates, against loops over thresholds."""
import numpy as np
import pytest

from mmface.functional.intervals import wilson_interval
from mmface.functional.open_set import Searches, tpir_at_fpir, tpir_by_adaface, tpir_by_ijb_1n, tpir_by_ijb_evals, tpir_by_pfe

FPIRS = (0, 0.001, 0.05, 0.1, 0.2, 0.25, 0.5, 1)


def some_searches(seed):
    """Rounded, so that mates and strangers tie."""
    random = np.random.default_rng(seed)
    return Searches(np.round(random.normal(0.6, 0.3, 40), 1), random.integers(1, 4, 40), np.round(random.normal(0.2, 0.3, 20), 1))


@pytest.mark.parametrize('seed', range(5))
def test_the_strict_threshold_is_the_lowest_that_keeps_the_target(seed):
    searches = some_searches(seed)
    for fpir in FPIRS:
        allowed = [t for t in (np.inf, *searches.mate, *searches.stranger) if sum(s >= t for s in searches.stranger) / 20 <= fpir]
        hits = sum(m >= min(allowed) and r == 1 for m, r in zip(searches.mate, searches.rank, strict=True))
        alarms = sum(s >= min(allowed) for s in searches.stranger)
        assert tpir_at_fpir(searches, fpir).to_dict() == dict(
            fpir_target=fpir, fpir=alarms / 20, similarity=min(allowed), tpir=hits / 40, tpir_ci95=list(wilson_interval(hits, 40)),
            mated=40, nonmated=20, false_alarms=alarms, resolvable=fpir >= 1 / 20)


@pytest.mark.parametrize('seed', range(5))
def test_the_others_rules_are_as_their_code_goes(seed):
    searches = some_searches(seed)
    falling = sorted(searches.stranger, reverse=True)
    first = [m for m, r in zip(searches.mate, searches.rank, strict=True) if r == 1]
    for fpir in FPIRS:
        above = falling[max(int(20 * fpir) - 1, 0)]
        assert tpir_by_ijb_evals(searches, fpir).hits == sum(m > above for m in first)
        assert tpir_by_ijb_evals(searches, fpir).false_alarms == sum(s > above for s in falling)
        for rule, k in ((tpir_by_adaface, int(20 * fpir)), (tpir_by_pfe, round(20 * fpir))):
            at = falling[0] + 1e-8 if k == 0 else falling[k - 1]
            assert rule(searches, fpir).hits == sum(m >= at for m in first)
            assert rule(searches, fpir).false_alarms == sum(s >= at for s in falling)


def test_equal_strangers_let_the_others_exceed_the_target_and_never_us():
    searches = Searches(np.array([0.9, 0.5]), np.ones(2, int), np.array([0.6, 0.6, 0.1, 0.1, 0.1]))
    assert [rule(searches, 0.2).fpir for rule in (tpir_at_fpir, tpir_by_adaface)] == [0, 0.4]


def test_the_oldest_rule_counts_comparisons_and_no_ranks():
    mate = np.array([0.9, 0.5, 0.3, 0.2])
    others = np.array([0.8, 0.5, 0.4, 0.1])  # of the 4 x 9 comparisons the highest
    assert [tpir_by_ijb_1n(mate, others, fpir)['tpir'] for fpir in (0.01, 0.5, 0.75)] == [0.25, 0.25, 0.5]


def test_a_failure_to_enrol_is_a_miss_and_no_alarm():
    searches = Searches(np.array([0.9, -np.inf]), np.array([1, 9]), np.array([0.5, -np.inf]))
    point = tpir_at_fpir(searches, 1)
    assert (point.tpir, point.fpir, point.threshold) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize('mated, others', [(0, 3), (3, 0)])
def test_both_kinds_of_searches_are_needed(mated, others):
    with pytest.raises(ValueError, match=f'got {mated} and {others}'):
        Searches(np.ones(mated), np.ones(mated, int), np.ones(others))

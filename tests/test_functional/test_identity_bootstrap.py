"""The bootstrap over people against loops over drawn people, and how often its intervals hold the truth."""
import numpy as np
import pytest
import scipy.stats

from mmface.functional.equal_error_rate import equal_error_rate
from mmface.functional.identity_bootstrap import IdentityBootstrap, percentile_interval
from mmface.functional.operating_point import tar_at_far
from mmface.functional.roc import roc_curve
from mmface.functional.ten_fold import weighted_fold_accuracy
from mmface.functional.weighted_roc import WeightedRoc, aucs, equal_error_rates, tars_at_far

PEOPLE, PAIRS, REPLICATES = 12, 200, 40


@pytest.fixture(scope='module')
def pairs():
    """(first, second, same, fold, similarity) with ties; pairs of every kind that a list may hold."""
    random = np.random.default_rng(0)
    first, second = random.integers(0, PEOPLE, (2, PAIRS))
    second = np.where(random.random(PAIRS) < 0.5, first, second)
    same = first == second
    same[:3] = ~same[:3]  # a matched pair of two people, a mismatched one of one person: counted as they stand
    similarity = np.round(random.normal(0.5 * same, 0.3), 1)
    return first, second, same, np.arange(PAIRS) % 4, similarity


def test_a_pair_stands_in_a_drawn_set_as_often_as_its_people_meet_there(pairs):
    """Every drawn set written out: copies of people, and the listed pairs between different copies or within one."""
    first, second, *_ = pairs
    weights = np.concatenate(list(IdentityBootstrap(first, second, REPLICATES, seed=5).blocks(1000)))
    generator = np.random.default_rng(5)
    for row in weights:
        copies = generator.integers(PEOPLE, size=PEOPLE).tolist()
        for n, (a, b) in enumerate(zip(first, second, strict=True)):
            met = 0
            for i, one in enumerate(copies):
                for j, other in enumerate(copies):
                    met += one == a and other == b and (i == j) == (a == b)
            assert row[n] == met


def test_the_draws_follow_the_seed_and_not_the_block(pairs):
    first, second, *_ = pairs
    draw = lambda size, seed=0: np.concatenate(list(IdentityBootstrap(first, second, REPLICATES, seed).blocks(size)))  # noqa: E731
    for size in (1, 7, REPLICATES):
        np.testing.assert_array_equal(draw(size), draw(1000))
    assert (draw(7, seed=1) != draw(7)).any()


def test_people_are_the_same_by_name_or_number(pairs):
    first, second, *_ = pairs
    names = np.array([f'{chr(97 + person)}' for person in range(PEOPLE)])
    by_name, by_number = (next(IdentityBootstrap(*people, 5).blocks(5)) for people in ((names[first], names[second]), (first, second)))
    np.testing.assert_array_equal(by_name, by_number)


def test_the_numbers_of_a_drawn_set_are_those_of_the_set_written_out(pairs):
    first, second, same, _, similarity = pairs
    weights = np.concatenate(list(IdentityBootstrap(first, second, REPLICATES).blocks(1000)))
    rocs = WeightedRoc(similarity, same)(weights)
    found = dict(auc=aucs(rocs), eer=equal_error_rates(rocs), tar=tars_at_far(rocs, 0.1), none=tars_at_far(rocs, 0))
    for r, row in enumerate(weights.astype(int)):
        at = np.repeat(np.arange(PAIRS), row)
        roc = roc_curve(similarity[at][same[at]], similarity[at][~same[at]])
        expected = dict(auc=roc.auc, eer=equal_error_rate(roc).mid, tar=tar_at_far(roc, 0.1).tar, none=tar_at_far(roc, 0).tar)
        for name, value in expected.items():
            assert found[name][r] == pytest.approx(value, rel=0, abs=1e-12)


@pytest.mark.parametrize('rule', ['grid', 'exact'])
def test_the_folds_of_a_drawn_set_are_those_of_the_set_written_out(pairs, rule):
    first, second, same, fold, similarity = pairs
    weights = np.concatenate(list(IdentityBootstrap(first, second, REPLICATES).blocks(1000)))
    found = weighted_fold_accuracy(2 - 2 * similarity, same, fold, rule, weights)
    for r, row in enumerate(weights.astype(int)):
        at = np.repeat(np.arange(PAIRS), row)
        correct, total, threshold = fold_accuracy_by_loops(2 - 2 * similarity[at], same[at], fold[at], rule)
        np.testing.assert_array_equal(found.correct[r], correct)
        np.testing.assert_array_equal(found.pairs[r], total)
        np.testing.assert_array_equal(found.threshold[r], threshold)


def fold_accuracy_by_loops(distance, same, fold, rule):
    correct, total, chosen = [], [], []
    for f in range(4):
        others = fold != f
        candidates = [k * 0.01 for k in range(400)] if rule == 'grid' else [*sorted(set(distance[others])), np.inf]
        right = [np.sum((distance[others] < t) == same[others]) for t in np.float64(candidates)]
        threshold = candidates[int(np.argmax(right))]
        correct.append(np.sum((distance[~others] < threshold) == same[~others]))
        total.append(np.sum(~others))
        chosen.append(threshold)
    return correct, total, chosen


def test_a_drawn_set_without_a_kind_of_pairs_has_no_numbers():
    similarity, same = np.array([0.9, 0.1, 0.2]), np.array([True, False, False])
    rocs = WeightedRoc(similarity, same)(np.array([[0., 1, 1], [1, 0, 0], [1, 1, 0]]))
    for values in (aucs(rocs), equal_error_rates(rocs), tars_at_far(rocs, 0.5)):
        np.testing.assert_array_equal(np.isnan(values), [True, True, False])
    assert percentile_interval(aucs(rocs)) == (1, 1)
    assert np.isnan(percentile_interval(np.array([np.nan, np.nan]))).all()


def test_one_draw_is_no_bootstrap():
    with pytest.raises(ValueError, match='at least 2 replicates, got 1'):
        IdentityBootstrap([0], [1], 1)


def genuine_pairs(random):
    """40 people, 25 pairs each; a person's tendency decides most of them. The share below 0 is one half."""
    person = np.repeat(np.arange(40), 25)
    return person, person, random.normal(size=40)[person] + 0.3 * random.normal(size=1000) > 0, 0.5


def impostor_pairs(random):
    """900 pairs of 60 people, each of whom is like others to a degree of its own: Doddington's lambs."""
    first, second = np.array(np.triu_indices(60, 1))[:, random.permutation(1770)[:900]]
    likeness = random.normal(size=60)
    accepted = likeness[first] + likeness[second] + np.sqrt(.5) * random.normal(size=900) > 1
    return first, second, accepted, scipy.stats.norm.sf(1 / np.sqrt(2.5))


@pytest.mark.parametrize('draw', [genuine_pairs, impostor_pairs])
def test_the_interval_over_people_holds_the_truth_where_the_one_over_pairs_does_not(draw):
    random, held, trials = np.random.default_rng(0), dict(people=0, pairs=0), 120
    for _ in range(trials):
        first, second, outcome, truth = draw(random)
        weights = next(IdentityBootstrap(first, second, 200, seed=1).blocks(200))
        low, high = percentile_interval((weights * outcome).sum(1) / weights.sum(1))
        held['people'] += low <= truth <= high
        spread = 1.96 * np.sqrt(outcome.mean() * (1 - outcome.mean()) / outcome.size)
        held['pairs'] += abs(outcome.mean() - truth) <= spread
    assert 0.88 < held['people'] / trials < 0.99
    assert held['pairs'] / trials < 0.5

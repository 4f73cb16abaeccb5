"""Protocols on pairs beyond the plain ten folds, against loops: RFW, XQLFW, View 1, groups, the bootstrap, two models."""
import dataclasses
import json

import numpy as np
import pytest

from mmface.evaluation import GroupedVerification, LFWView1, TenFoldVerification, paired_difference
from mmface.functional.identity_bootstrap import percentile_interval
from mmface.functional.operating_point import tar_at_far
from mmface.functional.roc import roc_curve
from mmface.structures import PairSet

RACES = ('African', 'Asian', 'Caucasian', 'Indian')
PEOPLE, EACH, FOLDS, IN_FOLD = 10, 6, 10, 8  # people a race, images a person, folds a race, pairs of each kind a fold
exactly = dict(rel=0, abs=1e-12)


@pytest.fixture(scope='module')
def rfw():
    """A set as RFW is made, and embeddings that serve one race worse than another."""
    random = np.random.default_rng(3)
    person = np.repeat(np.arange(len(RACES) * PEOPLE), EACH)
    race = person // PEOPLE
    noise = np.array([1.6, 1.2, 0.6, 1.0])[race, None]
    embeddings = (random.normal(size=(len(RACES) * PEOPLE, 6))[person] + noise * random.normal(size=(len(person), 6))).astype(np.float32)
    pairs, same, fold = [], [], []
    for r in range(len(RACES)):
        rows = np.flatnonzero(race == r)
        for f in range(FOLDS):
            for kind in (True, False):
                for _ in range(IN_FOLD):
                    a, b = random.choice(rows, 2, replace=False)
                    while (person[a] == person[b]) is not np.bool_(kind):
                        a, b = random.choice(rows, 2, replace=False)
                    pairs.append((a, b))
                    same.append(kind)
                    fold.append(f)
    names = [f'{RACES[r]}/{p}' for r, p in zip(race, person, strict=True)]
    return PairSet('rfw', [f'{i}.jpg' for i in range(len(person))], np.array(pairs), np.array(same), np.array(fold), identities=names,
                   groups=[RACES[r] for r in race]), embeddings


def cosines(embeddings, pairs):
    rows = [[float(x) for x in row] for row in embeddings]
    dot = lambda x, y: sum(a * b for a, b in zip(x, y, strict=True))  # noqa: E731
    return np.array([dot(rows[a], rows[b]) / np.sqrt(dot(rows[a], rows[a]) * dot(rows[b], rows[b])) for a, b in pairs])


def accuracy_by_loops(distance, same, fold, rule):
    accuracies = []
    for f in sorted(set(fold.tolist())):
        others = fold != f
        candidates = [k * 0.01 for k in range(400)] if rule == 'grid' else [*sorted(set(distance[others])), np.inf]
        right = [np.sum((distance[others] < t) == same[others]) for t in candidates]
        threshold = candidates[right.index(max(right))]
        accuracies.append(np.mean((distance[~others] < threshold) == same[~others]))
    return accuracies


@pytest.mark.parametrize('rule', ['grid', 'exact'])
def test_rfw_is_four_accuracies_with_their_mean_deviation_and_ratio(rfw, rule):
    pair_set, embeddings = rfw
    result = GroupedVerification(rule=rule)(pair_set, embeddings)
    distance = 2 - 2 * cosines(embeddings, pair_set.pairs)
    race = np.array(pair_set.groups)[pair_set.pairs[:, 0]]
    expected = {}
    for name in RACES:
        at = race == name
        expected[name] = accuracy_by_loops(distance[at], pair_set.same[at], pair_set.fold[at], rule)
        assert result['accuracy_by_group'][name]['fold_accuracy'] == pytest.approx(expected[name], **exactly)
    means = [np.mean(expected[name]) for name in RACES]
    assert result['accuracy'] == pytest.approx(np.mean(means), **exactly)
    assert result['accuracy_std'] == pytest.approx(np.sqrt(np.mean((np.array(means) - np.mean(means))**2)), **exactly)
    assert result['max_error_ratio'] == pytest.approx((1 - min(means)) / (1 - max(means)), **exactly)
    low, high = result['max_error_ratio_ci95']
    assert 1 < low < result['max_error_ratio'] < high
    assert result['accuracy_ci95'][0] < result['accuracy'] < result['accuracy_ci95'][1]


def test_groups_are_compared_at_one_threshold_over_all_pairs(rfw):
    pair_set, embeddings = rfw
    found = GroupedVerification(group_far=0.05)(pair_set, embeddings)['groups']
    similarity = cosines(embeddings, pair_set.pairs)
    point = tar_at_far(roc_curve(similarity[pair_set.same], similarity[~pair_set.same]), 0.05)
    assert found['threshold'] == pytest.approx(point.threshold, **exactly)
    assert (found['far_target'], found['far'], found['resolvable']) == (0.05, point.far, True)
    errors = sum(rates['fmr_errors'] for rates in found['by_group'].values())
    assert errors == point.false_accepts
    assert found['without_group'] == 0
    given = TenFoldVerification(group_threshold=0.5)(pair_set, embeddings)['groups']
    assert given['threshold'] == 0.5
    assert 'far_target' not in given


def test_a_result_without_groups_says_so(rfw):
    pair_set, embeddings = rfw
    assert TenFoldVerification()(dataclasses.replace(pair_set, groups=None), embeddings)['groups'] is None


@pytest.mark.parametrize('change, says', [
    (dict(groups=None), 'rfw: the set has no groups'),
    (dict(groups=['African'] * 240), 'all pairs are of the group African'),
    (dict(groups=[''] + [RACES[i // 60] for i in range(1, 240)]), r'pair \d+ is of no group or of two; so are \d+ of 640'),
])
def test_a_set_that_is_not_like_rfw_is_refused(rfw, change, says):
    with pytest.raises(ValueError, match=says):
        GroupedVerification()(dataclasses.replace(rfw[0], **change), rfw[1])


def test_a_race_with_a_fold_of_one_kind_is_named(rfw):
    pair_set, embeddings = rfw
    same = pair_set.same.copy()
    same[:2 * IN_FOLD] = True
    with pytest.raises(ValueError, match='rfw, African: fold 0 of 10 has no impostor pairs'):
        GroupedVerification()(dataclasses.replace(pair_set, same=same), embeddings)


def test_view_1_takes_the_threshold_from_the_first_list_and_the_accuracy_from_the_second(shared):
    from mmface.datasets import open_eval
    root = shared / 'reference/fixtures/pairs'
    pair_set = open_eval(root / 'lfw', 'lfw_view1', images=root / 'lfw/lfw', lists_only=True)
    listed = json.loads((root / 'expected.json').read_text())['lfw']
    row = {name: at for at, name in enumerate(listed['rows'])}
    order = [row['/'.join(path.split('/')[-2:])] for path in pair_set.paths]
    embeddings = np.load(root / 'lfw/embeddings.npy')
    result = LFWView1(rule='exact')(pair_set, embeddings[order])
    (train, train_same), (test, test_same) = (
        (2 - 2 * cosines(embeddings, [pair[:2] for pair in listed[name]]), [pair[2] for pair in listed[name]])
        for name in ('dev_train_pairs', 'dev_test_pairs'))
    candidates = [*sorted(set(train)), np.inf]
    right = [sum((d < t) == same for d, same in zip(train, train_same, strict=True)) for t in candidates]
    threshold = candidates[right.index(max(right))]
    expected = np.mean([(d < threshold) == same for d, same in zip(test, test_same, strict=True)])
    assert result['accuracy'] == pytest.approx(expected, **exactly)
    assert result['threshold'] == pytest.approx(1 - threshold / 2, **exactly)
    assert (result['test_genuine'], result['test_impostors'], result['pairs']) == (6, 6, len(train) + 12)


def test_view_1_tests_the_second_list_only():
    """A threshold that is right for all of DevTrain and for half of DevTest."""
    angle = np.radians([0, 10, 0, 80, 0, 70, 0, 40])
    pairs = np.arange(8).reshape(-1, 2)
    pair_set = PairSet('toy', [str(i) for i in range(8)], pairs, np.array([True, False, True, False]), np.array([0, 0, 1, 1]))
    embeddings = np.stack([np.cos(angle), np.sin(angle)], 1)
    result = LFWView1(rule='exact')(pair_set, embeddings)
    assert result['accuracy'] == 0.5  # d < that of 80 degrees: accepts both pairs of DevTest
    assert result['threshold'] == pytest.approx(np.cos(np.radians(80)), **exactly)


def test_view_1_wants_two_lists(rfw):
    with pytest.raises(ValueError, match='two folds, DevTrain and DevTest, this set has 10'):
        LFWView1()(*rfw)


def test_a_set_of_genuine_pairs_alone_is_refused(rfw):
    pair_set, embeddings = rfw
    with pytest.raises(ValueError, match='rfw: there is no impostor pair among 640'):
        TenFoldVerification()(dataclasses.replace(pair_set, same=np.ones(640, bool)), embeddings)


@pytest.mark.parametrize('protocol', [TenFoldVerification, GroupedVerification])
def test_the_bootstrap_is_the_protocol_on_sets_of_drawn_people(rfw, protocol):
    pair_set, embeddings = rfw
    pair_set = dataclasses.replace(pair_set, fold=pair_set.fold // 5)  # so that no fold is ever without people
    judge = protocol(rule='exact', fars=[0.1], bootstrap=60, seed=4)
    result = judge(pair_set, embeddings)
    similarity = judge.similarity(pair_set, embeddings)
    first, second = np.array([pair_set.identities[i] for i in pair_set.pairs.ravel()]).reshape(-1, 2).T
    names, generator = sorted(set(pair_set.identities)), np.random.default_rng(4)
    drawn = []
    for _ in range(60):
        picks = [names[k] for k in generator.integers(len(names), size=len(names))]
        times = [picks.count(a) * (1 if a == b else picks.count(b)) for a, b in zip(first, second, strict=True)]
        at = np.repeat(np.arange(len(times)), times)
        written_out = dataclasses.replace(pair_set, pairs=pair_set.pairs[at], same=pair_set.same[at], fold=pair_set.fold[at])
        one = protocol(rule='exact', fars=[0.1])
        drawn.append(one.judge(written_out, similarity[at]))
    assert result['bootstrap']['people'] == 40
    for name in ('accuracy', 'auc', 'eer'):
        assert result['bootstrap'][name] == result[name]
        assert result['bootstrap'][f'{name}_ci95'] == pytest.approx(percentile_interval(np.array([one[name] for one in drawn])), **exactly)
    tar = percentile_interval(np.array([one['tar_at_far'][0]['tar'] for one in drawn]))
    assert result['bootstrap']['tar_at_far'][0]['tar_ci95'] == pytest.approx(tar, **exactly)


def test_the_bootstrap_changes_nothing_else_and_not_the_fingerprint(rfw):
    pair_set, embeddings = rfw
    plain, with_people = TenFoldVerification()(pair_set, embeddings), TenFoldVerification(bootstrap=10)(pair_set, embeddings)
    for key in plain.keys() - {'bootstrap', 'intervals'}:
        assert plain[key] == with_people[key]
    assert plain['intervals'] == 'pairs are treated as independent'
    assert 'people' in with_people['intervals']
    assert with_people['bootstrap'] != TenFoldVerification(bootstrap=10, seed=1)(pair_set, embeddings)['bootstrap']


def test_a_set_that_names_nobody_says_that_pairs_are_treated_as_independent(rfw):
    pair_set, embeddings = rfw
    result = TenFoldVerification(bootstrap=10)(dataclasses.replace(pair_set, identities=None), embeddings)
    assert result['bootstrap'] is None
    assert result['intervals'].startswith('pairs are treated as independent')


def test_two_models_are_compared_on_the_same_pairs_and_people(rfw):
    pair_set, embeddings = rfw
    judge = TenFoldVerification(fars=[0.1], bootstrap=200)
    blurred = embeddings + np.random.default_rng(0).normal(size=embeddings.shape).astype(np.float32)
    first, second = (judge.similarity(pair_set, rows) for rows in (embeddings, blurred))
    found = paired_difference(judge, pair_set, first, second)
    results = [judge.judge(pair_set, similarity) for similarity in (first, second)]
    for name in ('accuracy', 'auc', 'eer'):
        assert found[name] == pytest.approx(results[1][name] - results[0][name])
        low, high = found[f'{name}_ci95']
        assert low < found[name] < high
        alone = [np.diff(result['bootstrap'][f'{name}_ci95'])[0] for result in results]
        assert high - low < sum(alone)  # what both models find hard cancels
    right = [judge.right(pair_set, similarity) for similarity in (first, second)]
    assert [np.mean(one) for one in right] == pytest.approx([result['accuracy'] for result in results], **exactly)
    counts = found['mcnemar']
    assert counts['only_first_right'] - counts['only_second_right'] == sum(right[0]) - sum(right[1])
    assert counts['p_value'] < 0.05
    same = paired_difference(judge, pair_set, first, first)
    assert (same['mcnemar']['p_value'], same['accuracy'], same['accuracy_ci95'], same['tar_at_far'][0]['tar']) == (1, 0, [0, 0], 0)


def test_without_people_the_difference_has_the_test_alone(rfw):
    pair_set, embeddings = rfw
    judge = TenFoldVerification(bootstrap=200)
    similarity = judge.similarity(pair_set, embeddings)
    found = paired_difference(judge, dataclasses.replace(pair_set, identities=None), similarity, similarity)
    assert found['bootstrap'] is None
    assert 'accuracy_ci95' not in found
    assert json.loads(json.dumps(found))['mcnemar']['p_value'] == 1


@pytest.mark.parametrize('rule', ['grid', 'exact'])
def test_xqlfw_is_its_ten_folds_from_the_list_to_the_accuracy(tmp_path, rule):
    from mmface.datasets import open_eval
    random, lines = np.random.default_rng(0), ['10 4']
    for fold in range(10):
        people = [f'Person_{fold}_{k}' for k in range(4)]
        lines += [f'{person} 1 2' for person in people] + [f'{person} 1 {people[k - 1]} 3' for k, person in enumerate(people)]
    (tmp_path / 'xqlfw_pairs.txt').write_text('\n'.join(lines) + '\n')
    pair_set = open_eval(tmp_path / 'xqlfw_pairs.txt', lists_only=True)
    people = {name: row for row, name in enumerate(sorted(set(pair_set.identities)))}
    means = random.normal(size=(40, 5))[[people[name] for name in pair_set.identities]]
    embeddings = (means + 0.8 * random.normal(size=means.shape)).astype(np.float32)
    result = TenFoldVerification(rule=rule)(pair_set, embeddings)
    distance = 2 - 2 * cosines(embeddings, pair_set.pairs)
    assert result['set'] == 'xqlfw'
    assert result['fold_accuracy'] == pytest.approx(accuracy_by_loops(distance, pair_set.same, np.arange(80) // 8, rule), **exactly)

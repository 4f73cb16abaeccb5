"""The protocol on the reference sets, and on embeddings that must not give a number."""
import json

import numpy as np
import pytest

from mmface.evaluation import TenFoldVerification
from mmface.structures import PairSet

SETS = ('lfw', 'cfp_ff', 'cfp_fp', 'agedb', 'calfw', 'cplfw')
exactly = dict(rel=0, abs=1e-12)


@pytest.fixture(scope='module')
def pair_sets(shared):
    """name -> (PairSet, raw embeddings, expected results); the folds are contiguous tenths of the protocol's order."""
    root = shared / 'reference/fixtures/pairs'
    expected = json.loads((root / 'expected.json').read_text())
    rows = dict(
        lfw=(expected['lfw']['pairs'], expected['lfw']['view2']),
        cfp_ff=(expected['cfp']['FF']['pair_rows'], expected['cfp']['FF']),
        cfp_fp=(expected['cfp']['FP']['pair_rows'], expected['cfp']['FP']),
        agedb=(expected['agedb']['pairs'], expected['agedb']['results']),
        calfw=(expected['calfw']['protocol_order'], expected['calfw']['results']),
        cplfw=(expected['cplfw']['protocol_order'], expected['cplfw']['results']))
    sets = {}
    for name, (listed, results) in rows.items():
        embeddings = np.load(root / name.split('_')[0] / 'embeddings.npy', allow_pickle=False)
        pairs = np.array(listed, dtype=np.int64)
        fold = np.arange(len(pairs)) * 10 // len(pairs)
        sets[name] = PairSet(name, [f'{i}.jpg' for i in range(len(embeddings))], pairs[:, :2], pairs[:, 2] == 1, fold), embeddings, results
    return sets


@pytest.mark.parametrize('rule, key', [('grid', 'grid_0.01'), ('exact', 'exact')])
@pytest.mark.parametrize('name', SETS)
def test_accuracy_is_that_of_the_reference(pair_sets, name, rule, key):
    pair_set, embeddings, expected = pair_sets[name]
    result, want = TenFoldVerification(rule=rule)(pair_set, embeddings), expected[key]
    assert result['accuracy'] == pytest.approx(want['mean'], **exactly)
    assert result['fold_accuracy'] == pytest.approx(want['fold_accuracy'], **exactly)
    assert result['fold_threshold'] == pytest.approx([float(t) for t in want['fold_threshold']], **exactly)
    assert result['threshold'] == pytest.approx(1 - np.mean(want['fold_threshold']) / 2, **exactly)
    assert (result['pairs'], result['genuine'], result['folds']) == (expected['pairs'], expected['same'], 10)


@pytest.mark.parametrize('name', SETS)
def test_both_deviations_are_those_of_the_reference(pair_sets, name):
    pair_set, embeddings, expected = pair_sets[name]
    result = TenFoldVerification()(pair_set, embeddings)
    assert result['accuracy_std'] == pytest.approx(expected['grid_0.01']['std_population'], **exactly)
    assert result['accuracy_se'] == pytest.approx(expected['grid_0.01']['standard_error_lfw'], **exactly)
    assert result['accuracy_se'] == pytest.approx(result['accuracy_std'] / 3, **exactly)  # ten folds


@pytest.mark.parametrize('name', SETS)
def test_auc_and_eer_are_those_of_the_reference(pair_sets, name):
    pair_set, embeddings, expected = pair_sets[name]
    result = TenFoldVerification()(pair_set, embeddings)
    assert result['auc'] == pytest.approx(expected['auc'], **exactly)
    assert result['eer'] == pytest.approx(expected['eer']['mid']['eer'], **exactly)
    assert result['eer_threshold'] == pytest.approx(expected['eer']['mid']['threshold'], **exactly)
    assert result['eer_cross'] == pytest.approx(expected['eer']['cross'], **exactly)


@pytest.mark.parametrize('name', SETS)
def test_tar_at_far_is_that_of_the_reference(pair_sets, name):
    pair_set, embeddings, expected = pair_sets[name]
    wanted = expected['pooled']['at']
    points = TenFoldVerification(fars=[float(far) for far in wanted])(pair_set, embeddings)['tar_at_far']
    for point, want in zip(points, wanted.values(), strict=True):
        assert (point['false_accepts'], point['genuine'], point['impostors']) == (
            want['strict']['false_accepts'], expected['pooled']['genuine'], expected['pooled']['impostor'])
        assert (point['tar'], point['far'], point['similarity']) == pytest.approx(
            (want['strict']['tar'], want['strict']['far'], want['strict']['threshold']), **exactly)
        assert point['resolvable'] == (point['far_target'] * point['impostors'] >= 1)


@pytest.mark.parametrize('far', ['0.001', '0.1'])
@pytest.mark.parametrize('name', SETS)
def test_val_is_that_of_the_reference_by_both_rules(pair_sets, name, far):
    pair_set, embeddings, expected = pair_sets[name]
    found = TenFoldVerification(val_far=float(far))(pair_set, embeddings)['val_at_far']
    for rule in ('strict', 'peer'):
        want = expected[f'val_far_{far}'][rule]
        assert (found[rule]['val'], found[rule]['val_std'], found[rule]['far']) == pytest.approx(
            (want['val'], want['val_std_population'], want['far']), **exactly)
    assert found['resolvable'] == (far == '0.1')  # 30 to 50 impostors cannot tell 1e-3


@pytest.mark.parametrize('name', SETS)
def test_similarities_are_cosines_in_float64(pair_sets, name):
    pair_set, embeddings, expected = pair_sets[name]
    similarity = TenFoldVerification().similarity(pair_set, embeddings)
    assert similarity.dtype == np.float64
    assert (2 - 2 * similarity[:8]).tolist() == pytest.approx(expected['distance_first'], **exactly)


@pytest.mark.parametrize('name', ['calfw', 'cplfw'])
def test_folds_in_the_order_of_a_sorted_list_are_refused(pair_sets, name):
    pair_set, embeddings, _ = pair_sets[name]
    order = np.argsort(~pair_set.same, kind='stable')
    unshuffled = PairSet(name, pair_set.paths, pair_set.pairs[order], pair_set.same[order], pair_set.fold)
    with pytest.raises(ValueError, match=f'{name}: fold 0 of 10 has no impostor pairs'):
        TenFoldVerification()(unshuffled, embeddings)


def small_set():
    pairs = np.array([[0, 1], [0, 2], [2, 3], [1, 3]])
    return PairSet('small', ['a', 'b', 'c', 'd'], pairs, np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1]))


def some_embeddings():
    return np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf, 0])
def test_an_embedding_without_direction_is_named_not_counted(value):
    embeddings = some_embeddings()
    embeddings[2] = value
    with pytest.raises(ValueError, match=r'image 2 \(c\)'):
        TenFoldVerification()(small_set(), embeddings)


def test_as_many_embeddings_as_images():
    with pytest.raises(ValueError, match='4 images need embeddings'):
        TenFoldVerification()(small_set(), some_embeddings()[:3])


def test_mirrored_embeddings_are_used_when_asked_for_and_only_then():
    plain, mirrored = some_embeddings(), some_embeddings()[::-1]
    added = TenFoldVerification(flip='add').similarity(small_set(), plain, mirrored)
    np.testing.assert_array_equal(added, TenFoldVerification().similarity(small_set(), plain.astype(np.float64) + mirrored))
    with pytest.raises(ValueError, match='give both or neither'):
        TenFoldVerification()(small_set(), plain, mirrored)
    with pytest.raises(ValueError, match='give both or neither'):
        TenFoldVerification(flip='add')(small_set(), plain)


def test_the_fingerprint_follows_the_switches_and_nothing_else():
    first = TenFoldVerification()(small_set(), some_embeddings())
    assert TenFoldVerification()(small_set(), -2 * some_embeddings()[::-1])['protocol_hash'] == first['protocol_hash']
    switches = (dict(rule='exact'), dict(flip='add'), dict(fars=(0.5, )), dict(val_far=0.1))
    others = [TenFoldVerification(**switch).hash for switch in switches]
    assert len({first['protocol_hash'], *others}) == 5


def test_a_result_is_plain_numbers():
    assert json.loads(json.dumps(TenFoldVerification()(small_set(), some_embeddings())))['set'] == 'small'


@pytest.mark.parametrize('switch, says', [(dict(rule='fine'), "rule is 'fine'"), (dict(flip='sum'), "flip is 'sum'")])
def test_an_unknown_switch_lists_the_known_ones(switch, says):
    with pytest.raises(ValueError, match=says):
        TenFoldVerification(**switch)

"""IJB 1:1 against the reference in every pooling, and against a loop on generated sets with ties."""
import itertools
import json

import numpy as np
import pytest

from mmface.datasets import open_eval
from mmface.evaluation import POOLING_PRESETS, TemplateVerification
from mmface.functional.roc import error_rates
from mmface.structures import TemplateSet

exactly = dict(rel=0, abs=1e-12)
EIGHT = {f'norm_kept={norm:d},det={det:d},flip={flip:d}': dict(keep_norm=norm, use_det_score=det, flip='add' if flip else None)
         for norm, det, flip in itertools.product((True, False), repeat=3)}
OTHERS = {'alt:magface_media_normalised': dict(keep_norm=True, use_det_score=False, pooling='unit_media'),
          'alt:mean_over_images': dict(keep_norm=True, use_det_score=False, pooling='images'),
          'alt:mean_of_unit_images': dict(keep_norm=False, use_det_score=False, pooling='images')}
POOLINGS = EIGHT | OTHERS


@pytest.fixture(scope='module')
def ijbc(shared):
    folder = shared / 'reference/fixtures/ijb'
    embeddings = np.load(folder / 'IJBC/embeddings.npy', allow_pickle=False)
    return open_eval(folder / 'IJBC'), embeddings[:, :10], embeddings[:, 10:], json.loads((folder / 'expected.json').read_text())['ijbc']


def evaluate(ijbc, **switches):
    template_set, plain, mirrored, _ = ijbc
    protocol = TemplateVerification(**switches)
    views = (plain, mirrored if protocol.flip else None)
    return protocol.similarity(template_set, *views), protocol(template_set, *views)


def test_no_pooling_of_the_reference_is_left_out(ijbc):
    assert set(ijbc[3]['verification']) == set(POOLINGS)


@pytest.mark.parametrize('precision, tolerance', [('float64', 1e-12), ('float32', 2e-7)])
@pytest.mark.parametrize('name', POOLINGS)
def test_scores_and_operating_points_are_those_of_the_reference(ijbc, name, precision, tolerance):
    want = ijbc[3]['verification'][name]
    similarity, result = evaluate(ijbc, **POOLINGS[name], precision=precision, fars=[float(far) for far in want['at']])
    assert similarity[:6].tolist() == pytest.approx(want['first_scores'], rel=0, abs=tolerance)
    assert (result['genuine'], result['impostors']) == (want['genuine'], want['impostor'])
    for rule, points in (('strict', result['tar_at_far']), ('nearest', result['nearest']['tar_at_far'])):
        for point, at in zip(points, want['at'].values(), strict=True):
            assert (point['false_accepts'], point['tar'], point['far']) == (at[rule]['false_accepts'], at[rule]['tar'], at[rule]['far'])
            assert point['similarity'] == pytest.approx(at[rule]['threshold'], rel=0, abs=tolerance)


@pytest.mark.parametrize('name', EIGHT)
def test_auc_and_both_equal_error_rates_are_those_of_the_reference(ijbc, name):
    want, (_, result) = ijbc[3]['verification'][name], evaluate(ijbc, **EIGHT[name])
    assert (result['auc'], result['eer'], result['eer_cross'], result['eer_threshold']) == pytest.approx(
        (want['auc'], want['eer']['mid']['eer'], want['eer']['cross'], want['eer']['mid']['threshold']), **exactly)


def test_error_rates_at_thresholds_are_those_of_the_reference(ijbc):
    similarity, _ = evaluate(ijbc)
    points = ijbc[3]['det']
    fmr, fnmr = error_rates(similarity[ijbc[0].same], similarity[~ijbc[0].same], [point['threshold'] for point in points])
    assert fmr.tolist() == [point['fmr'] for point in points]
    assert fnmr.tolist() == [point['fnmr'] for point in points]


def test_presets_are_what_the_papers_code_does():
    assert {name: (switch['keep_norm'], switch['use_det_score'], switch['flip'], switch['pooling'])
            for name, switch in POOLING_PRESETS.items()} == dict(
                insightface=(True, True, 'add', 'media'), adaface=(True, False, 'add', 'media'), cvlface=(False, True, 'add', 'media'),
                magface=(True, False, None, 'unit_media'))
    assert TemplateVerification(**POOLING_PRESETS['insightface']).hash == TemplateVerification().hash


def generated(seed=0, scores=True):
    """A set in the manner of IJB-B: any ids, rows in any order, images in several templates, templates that are copies of others."""
    random = np.random.default_rng(seed)
    ids = random.choice(np.append(np.arange(-50, 50), 2**40), 24, replace=False)
    template = np.append(ids, random.choice(ids, 96))
    media, image, det = random.integers(0, 4, 120), random.integers(0, 60, 120), random.uniform(0.3, 1, 120)
    for copy, source in zip(ids[:4], ids[4:8], strict=True):  # ties
        rows = template == source
        keep = template != copy
        template, media, image, det = (np.append(column[keep], extra[rows]) for column, extra in (
            (template, np.full(len(template), copy)), (media, media), (image, image), (det, det)))
    pairs = random.choice(ids, (500, 2))
    return TemplateSet('ijbb', [f'{i}.jpg' for i in range(60)], template, media, det if scores else None, None, image, pairs,
                       random.random(500) < 0.3)


def some_embeddings(seed=0):
    return tuple(np.random.default_rng(seed).normal(0.3, 1, size=(2, 60, 7)).astype(np.float32))


def brute_force(template_set, plain, mirrored, keep_norm, use_det_score, flip, pooling='media'):
    """The score of every pair, one row at a time."""
    vectors = {}
    for one in np.unique(template_set.template):
        media = {}
        for row in np.flatnonzero(template_set.template == one):
            vector = plain[template_set.image[row]].astype(float) + (mirrored[template_set.image[row]] if flip else 0)
            vector = vector if keep_norm else vector / np.linalg.norm(vector)
            media.setdefault(template_set.media[row] if pooling != 'images' else 0, []).append(
                vector * (template_set.det_score[row] if use_det_score else 1))
        means = [np.mean(vectors, 0) for vectors in media.values()]
        if pooling == 'unit_media':
            means = [mean / np.linalg.norm(mean) for mean in means]
        total = np.sum(means, 0)
        vectors[one] = total / np.linalg.norm(total)
    return np.array([vectors[a] @ vectors[b] for a, b in template_set.pairs])


@pytest.mark.parametrize('name', POOLINGS)
def test_a_generated_set_is_scored_as_by_a_loop(name):
    template_set, (plain, mirrored), switches = generated(), some_embeddings(), dict(flip='add') | POOLINGS[name]
    similarity = TemplateVerification(**switches).similarity(template_set, plain, mirrored if switches['flip'] else None)
    np.testing.assert_allclose(similarity, brute_force(template_set, plain, mirrored, **switches), rtol=0, atol=1e-12)


def test_a_generated_sets_numbers_are_those_of_counting_with_its_ties():
    template_set, (plain, mirrored) = generated(), some_embeddings()
    fars = (0, 0.005, 0.01, 0.1, 0.3)
    protocol = TemplateVerification(fars=fars)
    similarity = protocol.similarity(template_set, plain, mirrored)
    genuine, impostor = similarity[template_set.same], similarity[~template_set.same]
    assert len(np.unique(similarity)) < 0.9 * len(similarity)  # copies tie, to the last bit
    assert np.allclose(np.unique(np.round(similarity, 10)), np.unique(similarity), rtol=0, atol=1e-10)
    result = protocol(template_set, plain, mirrored)
    for far, point in zip(fars, result['tar_at_far'], strict=True):
        allowed = [t for t in (np.inf, *similarity) if np.mean(impostor >= t) <= far]
        assert point['tar'] == max(np.mean(genuine >= t) for t in allowed)
        assert point['resolvable'] == (far >= 1 / len(impostor))
    wins = sum((g > impostor).sum() + (g == impostor).sum() / 2 for g in genuine)
    assert result['auc'] == pytest.approx(wins / len(genuine) / len(impostor), **exactly)


def test_neither_the_order_of_rows_nor_of_pairs_matters():
    template_set, views = generated(), some_embeddings()
    random = np.random.default_rng(5)
    rows, pairs = random.permutation(len(template_set.template)), random.permutation(500)
    columns = {name: getattr(template_set, name)[rows] for name in ('template', 'media', 'det_score', 'image')}
    shuffled = with_(template_set, **columns, pairs=template_set.pairs[pairs], same=template_set.same[pairs])
    assert TemplateVerification()(shuffled, *views) == TemplateVerification()(template_set, *views)


def test_a_template_without_image_is_an_error_or_what_the_switch_says():
    template_set, (plain, mirrored) = generated(), some_embeddings()
    pairs = template_set.pairs.copy()
    pairs[7, 1], pairs[9, 0] = 999, 999
    template_set = TemplateSet('ijbb', template_set.paths, template_set.template, template_set.media, template_set.det_score, None,
                               template_set.image, pairs, template_set.same)
    with pytest.raises(ValueError, match='ijbb: template 999 of pair 7 has no image'):
        TemplateVerification()(template_set, plain, mirrored)
    for switch, score in (('zero', 0), ('reject', -np.inf)):
        protocol = TemplateVerification(failure_to_enrol=switch, fars=(1, ))
        similarity = protocol.similarity(template_set, plain, mirrored)
        assert similarity[[7, 9]].tolist() == [score, score]
        assert np.isfinite(np.delete(similarity, [7, 9])).all()
        lost = int(template_set.same[[7, 9]].sum()) * (switch == 'reject')
        assert protocol(template_set, plain, mirrored)['tar_at_far'][0]['tar'] == 1 - lost / template_set.same.sum()


def with_(template_set, **columns):
    return TemplateSet(**{name: getattr(template_set, name) for name in TemplateSet.__dataclass_fields__} | columns)


def test_scores_of_nothing_are_refused_when_they_weigh_and_only_then():
    template_set, (plain, mirrored) = generated(), some_embeddings()
    lost = template_set.template[50]
    nothing = with_(template_set, det_score=np.where(template_set.template == lost, 0, template_set.det_score))
    with pytest.raises(ValueError, match=f'all detector scores of template {lost} are 0'):
        TemplateVerification()(nothing, plain, mirrored)
    TemplateVerification(use_det_score=False)(nothing, plain, mirrored)
    for value in (np.nan, np.inf, -0.1):
        wrong = template_set.det_score.copy()
        wrong[33] = value
        with pytest.raises(ValueError, match=f'detector score of row 33 is {value}'):
            TemplateVerification()(with_(template_set, det_score=wrong), plain, mirrored)
    with pytest.raises(ValueError, match='no detector scores: use_det_score=False'):
        TemplateVerification()(generated(scores=False), plain, mirrored)


@pytest.mark.parametrize('value', [np.nan, np.inf, 0])
def test_an_embedding_without_direction_is_named_not_counted(value):
    plain, mirrored = some_embeddings()
    plain[31] = value
    with pytest.raises(ValueError, match=r'image 31 \(31\.jpg\)'):
        TemplateVerification()(generated(), plain, mirrored)


def test_images_that_cancel_out_leave_no_template():
    template_set = TemplateSet('two', ['a', 'b'], np.array([4, 4, 5]), np.array([1, 2, 1]), image=np.array([0, 1, 0]),
                               pairs=np.array([[4, 5], [5, 5]]), same=np.array([True, False]))
    rows = np.array([[1., 2], [-1, -2]])
    with pytest.raises(ValueError, match='template 4 add up to a vector of length 0'):
        TemplateVerification(use_det_score=False, flip=None)(template_set, rows)


def test_pairs_of_one_kind_are_refused():
    template_set, views = generated(), some_embeddings()
    with pytest.raises(ValueError, match='genuine and impostor pairs, got 500 and 0'):
        TemplateVerification()(with_(template_set, same=np.ones(500, bool)), *views)


def test_the_fingerprint_follows_every_switch_and_nothing_else():
    switches = [dict(), dict(keep_norm=False), dict(use_det_score=False), dict(flip=None), dict(pooling='images'),
                dict(precision='float32'), dict(failure_to_enrol='zero'), dict(fars=(0.1, ))]
    assert len({TemplateVerification(**switch).hash for switch in switches}) == len(switches)
    first, second = (TemplateVerification()(generated(seed), *some_embeddings(seed)) for seed in (0, 1))
    assert first['protocol_hash'] == second['protocol_hash'] == TemplateVerification().hash
    assert json.loads(json.dumps(first))['set'] == 'ijbb'


@pytest.mark.parametrize('switch', [dict(flip='sum'), dict(pooling='mean'), dict(precision='float16'), dict(keep_norm='yes'),
                                    dict(failure_to_enrol='skip')])
def test_an_unknown_switch_lists_the_known_ones(switch):
    with pytest.raises(ValueError, match=f'{next(iter(switch))} is .*expected one of'):
        TemplateVerification(**switch)

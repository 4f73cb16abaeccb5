"""IJB 1:N against the reference, and against a loop on generated sets with ties."""
import json
from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from mmface.datasets import open_eval
from mmface.evaluation import TemplateIdentification
from mmface.functional.intervals import mean_interval, wilson_interval
from mmface.structures import TemplateList, TemplateSet

exactly = dict(rel=0, abs=1e-12)
FPIRS = (0.01, 0.1, 0.3)


@pytest.fixture(scope='module')
def reference(shared):
    """The result on the reference's set, and what it should be."""
    folder = shared / 'reference/fixtures/ijb'
    embeddings = np.load(folder / 'IJBC/embeddings.npy', allow_pickle=False)
    result = TemplateIdentification(ranks=(1, 3, 5), fpirs=FPIRS)(open_eval(folder / 'IJBC'), embeddings[:, :10], embeddings[:, 10:])
    return result, json.loads((folder / 'expected.json').read_text())['ijbc']['identification']


def test_ranks_are_those_of_the_reference(reference):
    result, expected = reference
    for rank in ('1', '3', '5'):
        assert result[f'rank{rank}'] == pytest.approx(expected['mean_of_galleries']['rank'][rank], **exactly)
        assert result['combined'][f'rank{rank}'] == expected['combined_gallery']['rank'][rank]
        for name, gallery in expected['per_gallery'].items():
            assert result['galleries'][name][f'rank{rank}'] == gallery['rank'][rank]


@pytest.mark.parametrize('rule, key', [('tpir_at_fpir', 'tpir'), ('ijb_evals', 'insightface_ijb_evals')])
def test_open_set_points_of_both_rules_are_those_of_the_reference(reference, rule, key):
    result, expected = reference
    for name, want in expected['per_gallery'].items():
        gallery = result['galleries'][name]
        assert (gallery['mated'], gallery['nonmated']) == (want['mated'], want['non_mated'])
        points = gallery['tpir_at_fpir'] if rule == 'tpir_at_fpir' else gallery[rule]['tpir_at_fpir']
        for fpir, point in zip(FPIRS, points, strict=True):
            at = want[key][str(fpir)]
            assert (point['tpir'], point['fpir']) == (at['tpir'], at['fpir'])
            assert point['similarity'] == pytest.approx(at['threshold'], **exactly)


def test_means_and_the_oldest_rule_are_those_of_the_reference(reference):
    result, expected = reference
    for at, fpir in enumerate(FPIRS):
        assert result['tpir_at_fpir'][at]['tpir'] == pytest.approx(expected['mean_of_galleries']['tpir'][str(fpir)], **exactly)
    points = {str(point['fpir_target']): point for point in result['combined']['ijb_1n']['tpir_at_fpir']}
    for fpir, want in expected['combined_gallery']['legacy_ijb_1n_open_set'].items():
        assert points[fpir]['tpir'] == want['tpir']
        assert points[fpir]['similarity'] == pytest.approx(want['threshold'], **exactly)


def generated(seed=0):
    """Two galleries and mixed probes; some templates have the images of another, so that mates tie with strangers."""
    random = np.random.default_rng(seed)
    subject = np.append(np.repeat(np.arange(20), 3), 99)  # 99 is in no gallery
    template = random.permutation(1000)[:len(subject)] - 300
    images = np.arange(2 * len(subject)).reshape(-1, 2)
    images[1:24:3] = images[0:24:3]  # a probe that is its enrolment
    images[30:45:3] = images[0:15:3]  # a stranger's enrolment that is the mate's
    rows = images.ravel()
    enrolled = np.arange(len(subject)) % 3 == 0
    enrolled[-1] = False
    listed = [np.flatnonzero(enrolled & (subject < 10)), np.flatnonzero(enrolled & (subject >= 10)), np.flatnonzero(~enrolled)]
    first, second, probes = (TemplateList(template[at], subject[at]) for at in listed)
    return TemplateSet('generated', [f'{i}.jpg' for i in range(len(rows))], np.repeat(template, 2), np.zeros(len(rows), int), image=rows,
                       galleries=dict(first=first, second=second), probes=dict(mixed=probes))


def some_embeddings(seed=0):
    random = np.random.default_rng(seed)
    person = random.normal(size=(21, 9))
    return (np.repeat(person, 6, 0)[:122] + 0.9 * random.normal(size=(122, 9))).astype(np.float32)


def brute_force(template_set, rows):
    """Of every probe in one gallery after the other: subject, mate's score, pessimistic rank, best other, all others' scores."""
    def vector(template):
        total = np.sum([rows[i].astype(float) for i in template_set.image[template_set.template == template]], 0)
        return total / np.linalg.norm(total)

    probes = template_set.probes['mixed']
    found = {}
    for name, gallery in template_set.galleries.items():
        searches = []
        for template, subject in zip(probes.template, probes.subject, strict=True):
            scores = [(vector(template) @ vector(other), s) for other, s in zip(gallery.template, gallery.subject, strict=True)]
            mate = max((round(score, 12) for score, s in scores if s == subject), default=None)
            others = [round(score, 12) for score, s in scores if s != subject]
            searches.append((mate, None if mate is None else 1 + sum(score >= mate for score in others), max(others), others))
        found[name] = searches
    return found


@pytest.mark.parametrize('seed', range(3))
def test_a_generated_set_gives_what_a_loop_gives_with_its_ties(seed):
    template_set, rows = generated(seed), some_embeddings(seed)
    result = TemplateIdentification(use_det_score=False, flip=None, ranks=(1, 2, 5), fpirs=(0.05, 0.2))(template_set, rows)
    wanted = brute_force(template_set, rows)
    assert result['galleries']['first']['ties'] + result['combined']['ties'] > 0
    shares, counts = {rank: [] for rank in (1, 2, 5)}, {rank: [] for rank in (1, 2, 5)}
    for name, searches in wanted.items():
        gallery = result['galleries'][name]
        mated = [search for search in searches if search[0] is not None]
        strangers = [search[2] for search in searches if search[0] is None]
        assert (gallery['mated'], gallery['nonmated']) == (len(mated), len(strangers))
        for rank in (1, 2, 5):
            hits = sum(search[1] <= rank for search in mated)
            assert gallery[f'rank{rank}'] == hits / len(mated)
            assert gallery[f'rank{rank}_ci95'] == list(wilson_interval(hits, len(mated)))
            shares[rank].append(hits / len(mated))
            counts[rank].append((hits, len(mated)))
        for point in gallery['tpir_at_fpir']:
            scores = [np.inf, *strangers, *(search[0] for search in mated)]
            threshold = min(t for t in scores if sum(s >= t for s in strangers) / len(strangers) <= point['fpir_target'])
            assert point['similarity'] == pytest.approx(threshold, rel=0, abs=1e-11)
            assert point['tpir'] == sum(search[0] >= threshold and search[1] == 1 for search in mated) / len(mated)
            assert point['false_alarms'] == sum(s >= threshold for s in strangers)
    for rank in (1, 2, 5):
        assert result[f'rank{rank}'] == pytest.approx(np.mean(shares[rank]), **exactly)
        assert result[f'rank{rank}_ci95'] == list(mean_interval(*counts[rank]))


def test_the_joined_gallery_and_its_rule_are_those_of_a_loop():
    template_set, rows = generated(), some_embeddings()
    result = TemplateIdentification(use_det_score=False, flip=None, fpirs=(0.05, 0.2))(template_set, rows)['combined']
    wanted = brute_force(template_set, rows)
    both = list(zip(*wanted.values(), strict=True))
    mates = [first[0] if second[0] is None else second[0] for first, second in both]
    others = [first[3] + second[3] for first, second in both]
    ranked = [(mate, 1 + sum(score >= mate for score in row)) for mate, row in zip(mates, others, strict=True) if mate is not None]
    assert result['rank1'] == sum(rank == 1 for _, rank in ranked) / len(ranked)
    falling = sorted((score for row in others for score in row), reverse=True)
    for point in result['ijb_1n']['tpir_at_fpir']:
        threshold = falling[ceil(len(mates) * point['fpir_target']) - 1]
        assert point['similarity'] == pytest.approx(threshold, rel=0, abs=1e-11)
        assert point['tpir'] == sum(mate is not None and mate > threshold + 1e-9 for mate in mates) / len(mates)


def without(template_set, lost):
    kept = template_set.template != lost
    return replace(template_set, template=template_set.template[kept], media=template_set.media[kept], image=template_set.image[kept])


def test_a_template_without_image_is_an_error_or_what_the_switch_says():
    template_set, rows = generated(), some_embeddings()
    switches = dict(use_det_score=False, flip=None, ranks=(1, 10, 10**6), fpirs=(1, ))
    whole = TemplateIdentification(**switches)(template_set, rows)['galleries']['first']
    assert whole['rank1000000'] == 1
    for lost, misses in ((template_set.galleries['first'].template[2], 2), (template_set.probes['mixed'].template[5], 1)):
        partial = without(template_set, lost)
        with pytest.raises(ValueError, match=f'template {lost} has no image'):
            TemplateIdentification(**switches)(partial, rows)
        rejected = TemplateIdentification(**switches, failure_to_enrol='reject')(partial, rows)['galleries']['first']
        assert rejected['mated'] == whole['mated'] == 20
        assert rejected['rank1000000'] == 1 - misses / 20  # never returned
        zero = TemplateIdentification(**switches, failure_to_enrol='zero')(partial, rows)['galleries']['first']
        assert zero['rank10'] == 1  # in a gallery of ten


def test_what_a_rejected_probe_leaves_is_no_alarm():
    template_set, rows = generated(), some_embeddings()
    stranger = template_set.probes['mixed'].template[-1]  # of nobody
    points = [TemplateIdentification(use_det_score=False, flip=None, fpirs=(1, ), failure_to_enrol=policy)(
        without(template_set, stranger), rows)['galleries']['first']['tpir_at_fpir'][0] for policy in ('reject', 'zero')]
    assert [point['nonmated'] for point in points] == [21, 21]
    assert points[0]['false_alarms'] < 21


def test_the_list_of_probes_is_chosen_by_name():
    template_set, rows = generated(), some_embeddings()
    two = replace(template_set, probes=dict(template_set.probes, still=TemplateList(*(
        getattr(template_set.probes['mixed'], name)[:30] for name in ('template', 'subject')))))
    with pytest.raises(ValueError, match=r"lists of probes \['mixed', 'still'\]: choose one"):
        TemplateIdentification(use_det_score=False, flip=None)(two, rows)
    assert TemplateIdentification(use_det_score=False, flip=None, probes='still')(two, rows)['probes'] == 30


@pytest.mark.parametrize('change, says', [
    (dict(galleries={}), 'generated has no gallery'),
    (dict(galleries=dict(empty=TemplateList(np.array([5000]), np.array([77])))), 'template 5000 has no image'),
    (dict(probes=dict(mixed=TemplateList(generated().probes['mixed'].template[-1:], np.array([99])))), 'none of 1 probes is of a person')])
def test_a_set_without_what_is_needed_is_refused(change, says):
    with pytest.raises(ValueError, match=says):
        TemplateIdentification(use_det_score=False, flip=None)(replace(generated(), **change), some_embeddings())


def test_a_gallery_that_knows_everybody_has_no_open_set():
    template_set = generated()
    only = replace(template_set, galleries=dict(first=template_set.galleries['first']),
                   probes=dict(mixed=TemplateList(*(getattr(template_set.probes['mixed'], name)[:20] for name in ('template', 'subject')))))
    with pytest.raises(ValueError, match='open-set rates need searches with and without a mate, got 20 and 0'):
        TemplateIdentification(use_det_score=False, flip=None)(only, some_embeddings())
    assert TemplateIdentification(use_det_score=False, flip=None, fpirs=())(only, some_embeddings())['tpir_at_fpir'] == []


def test_the_fingerprint_follows_every_switch():
    switches = [dict(), dict(keep_norm=False), dict(use_det_score=False), dict(flip=None), dict(pooling='images'), dict(ranks=(1, )),
                dict(failure_to_enrol='zero'), dict(fpirs=(0.1, )), dict(probes='still')]
    assert len({TemplateIdentification(**switch).hash for switch in switches}) == len(switches)

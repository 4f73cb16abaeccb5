"""TinyFace against the reference, and against a loop on generated sets with ties."""
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from mmface.datasets import open_eval
from mmface.evaluation import TinyFaceIdentification
from mmface.structures import SearchSet


def test_the_numbers_are_those_of_the_reference(shared):
    folder = shared / 'reference/fixtures/ident'
    expected = json.loads((folder / 'expected.json').read_text())['tinyface']
    embeddings = np.concatenate([np.load(folder / f'tinyface/{kind}_embeddings.npy') for kind in ('probe', 'gallery', 'distractor')])
    result = TinyFaceIdentification(ranks=(1, 5, 10, 20))(open_eval(folder / 'tinyface/tinyface'), embeddings)
    assert {str(rank): result[f'rank{rank}'] for rank in (1, 5, 10, 20)} == expected['rank']
    assert (result['mAP'], result['mAP_step']) == pytest.approx((expected['map_trapezoid'], expected['map_step']), rel=0, abs=1e-12)
    assert (result['probes'], result['gallery'], result['distractors']) == (31, 23, 30)


def generated(seed=0):
    """Several mates a probe; some distractors and some of other people's gallery images are copies of mates."""
    random = np.random.default_rng(seed)
    ids = np.append(random.integers(0, 12, 30), np.append(np.arange(12), random.integers(0, 12, 20)))
    ids = np.append(ids, np.full(25, -100))
    rows = np.arange(len(ids))
    person = random.normal(size=(12, 8))
    vectors = (np.where(ids[:, None] >= 0, person[ids.clip(0)], 0) + random.normal(size=(len(ids), 8))).astype(np.float32)
    vectors[62:72] = vectors[30:40]
    vectors[50:53] = vectors[40:43]
    shuffle = random.permutation(len(ids))
    where = np.argsort(shuffle)
    search_set = SearchSet('generated', [f'{i}.jpg' for i in rows], where[:30], where[30:62], where[62:], ids[shuffle])
    return search_set, vectors[shuffle]


@pytest.mark.parametrize('seed', range(3))
def test_a_generated_set_gives_what_a_loop_gives_with_its_ties(seed):
    search_set, vectors = generated(seed)
    unit = vectors.astype(float) / np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
    everybody = np.append(search_set.gallery, search_set.distractor)
    ranks, steps, tied = [], [], 0
    for probe in search_set.probe:
        scores = np.round(unit[everybody] @ unit[probe], 12)
        mate = (search_set.ids[everybody] == search_set.ids[probe]) & np.isin(everybody, search_set.gallery)
        best = scores[mate].max()
        ranks.append(1 + (scores[~mate] >= best).sum())
        tied += (scores[~mate] == best).any()
        order = np.lexsort((mate, -scores))  # of equals, mates last
        steps.append(average_precision_score(mate[order], -np.arange(len(order))))
    result = TinyFaceIdentification()(search_set, vectors)
    assert (result['ties'] == tied) and tied > 0
    for rank in (1, 5, 20):
        assert result[f'rank{rank}'] == np.mean(np.array(ranks) <= rank)
    assert result['mAP_step'] == pytest.approx(np.mean(steps), rel=1e-12)
    assert result['mAP'] < result['mAP_step'] < result['mAP_step_ci95'][1]


def test_the_mirrored_embedding_is_used_when_asked_for():
    search_set, vectors = generated()
    mirrored = generated(1)[1]
    added = TinyFaceIdentification(flip='add')(search_set, vectors, mirrored)
    plain = TinyFaceIdentification()(search_set, vectors.astype(float) + mirrored)
    assert {**added, 'switches': 0, 'protocol_hash': 0} == {**plain, 'switches': 0, 'protocol_hash': 0}
    assert added['protocol_hash'] != plain['protocol_hash']


def test_a_probe_without_mate_or_in_its_own_gallery_is_named():
    search_set, vectors = generated()
    probe = search_set.probe[4]
    ids = search_set.ids.copy()
    ids[probe] = 77
    with pytest.raises(ValueError, match=rf'without mate in the gallery, {probe}\.jpg of person 77; there are 1 of 30'):
        TinyFaceIdentification()(replace(search_set, ids=ids), vectors)
    with pytest.raises(ValueError, match=rf'that is in the gallery itself, {probe}\.jpg'):
        TinyFaceIdentification()(replace(search_set, gallery=np.append(search_set.gallery, probe)), vectors)


@pytest.mark.parametrize('value', [np.nan, np.inf, 0])
def test_an_embedding_without_direction_is_named_not_ranked(value):
    search_set, vectors = generated()
    vectors[33] = value
    with pytest.raises(ValueError, match=r'image 33 \(33\.jpg\)'):
        TinyFaceIdentification()(search_set, vectors)


def test_the_fingerprint_follows_every_switch():
    assert len({TinyFaceIdentification(**switch).hash for switch in (dict(), dict(flip='add'), dict(ranks=(1, )))}) == 3
    with pytest.raises(ValueError, match="flip is 'sum', expected one of None, 'add'"):
        TinyFaceIdentification(flip='sum')

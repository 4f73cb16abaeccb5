"""SCface against a loop on generated sets; the reference has the set but no numbers."""
import json
from dataclasses import replace

import numpy as np
import pytest

from mmface.datasets import open_eval
from mmface.evaluation import SCfaceIdentification
from mmface.functional.intervals import mean_interval, wilson_interval
from mmface.structures import SearchSet


def generated(seed=0):
    """Twelve people, five cameras, three distances, the farther the worse; two mugshots are the same picture."""
    random = np.random.default_rng(seed)
    person = random.normal(size=(12, 8))
    person[7] = person[3]
    probes = [(p, distance) for p in range(12) for distance in (1, 2, 3) for _ in range(5)]
    vectors = np.concatenate([[person[p] + random.normal(size=8) * 1.2 / d for p, d in probes], person]).astype(np.float32)
    ids = np.append([p for p, _ in probes], np.arange(12)) + 1
    rows = np.arange(len(ids))
    return SearchSet('scface', [f'{i}.jpg' for i in rows], rows[:180], rows[180:], rows[:0], ids, [f'd{d}' for _, d in probes]), vectors


@pytest.mark.parametrize('seed', range(3))
def test_a_generated_set_gives_what_a_loop_gives_with_its_ties(seed):
    search_set, vectors = generated(seed)
    unit = vectors.astype(float) / np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
    result = SCfaceIdentification(ranks=(1, 3))(search_set, vectors)
    ranks = []
    for probe in search_set.probe:
        scores = {search_set.ids[g]: unit[probe] @ unit[g] for g in search_set.gallery}
        mate = scores.pop(search_set.ids[probe])
        ranks.append(1 + sum(score >= mate - 1e-12 for score in scores.values()))
    assert result['ties'] == 30  # the probes of two people with one face: never at rank 1
    for r in (1, 3):
        counts = []
        for name in ('d1', 'd2', 'd3'):
            of_name = [rank for rank, condition in zip(ranks, search_set.condition, strict=True) if condition == name]
            hits = sum(rank <= r for rank in of_name)
            assert result['conditions'][name]['probes'] == len(of_name) == 60
            assert result['conditions'][name][f'rank{r}'] == hits / 60
            assert result['conditions'][name][f'rank{r}_ci95'] == list(wilson_interval(hits, 60))
            counts.append((hits, 60))
        assert result[f'rank{r}'] == pytest.approx(np.mean([hits / 60 for hits, _ in counts]), rel=1e-12)
        assert result[f'rank{r}_ci95'] == list(mean_interval(*counts))
    assert result['conditions']['d1']['rank1'] < result['conditions']['d3']['rank1']
    assert (result['people'], result['gallery']) == (12, 12)


def test_the_references_set_has_its_three_distances(shared):
    search_set = open_eval(shared / 'reference/fixtures/ident/scface')
    expected = json.loads((shared / 'reference/fixtures/ident/expected.json').read_text())['scface']
    vectors = np.random.default_rng(0).normal(size=(len(search_set.paths), 8))
    result = SCfaceIdentification()(search_set, vectors)
    assert (result['people'], result['probes']) == (expected['subjects'], len(expected['visible_probes']))
    assert {name: part['probes'] for name, part in result['conditions'].items()} == dict(d1=15, d2=15, d3=15)


def test_conditions_and_mates_are_needed():
    search_set, vectors = generated()
    with pytest.raises(ValueError, match='does not say under which condition'):
        SCfaceIdentification()(replace(search_set, condition=None), vectors)
    with pytest.raises(ValueError, match='without mate in the gallery'):
        SCfaceIdentification()(replace(search_set, gallery=search_set.gallery[1:]), vectors)


def test_the_fingerprint_follows_every_switch():
    assert len({SCfaceIdentification(**switch).hash for switch in (dict(), dict(flip='add'), dict(ranks=(1, 5)))}) == 3

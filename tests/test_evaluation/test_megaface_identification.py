"""MegaFace against the reference, and against a loop on generated sets with ties."""
import json
from dataclasses import replace

import numpy as np
import pytest

from mmface.datasets.formats import EVALS
from mmface.datasets.formats.megaface_features import read_megaface_features
from mmface.evaluation import MegaFaceIdentification
from mmface.structures import SearchSet

FARS = (0.001, 0.01, 0.1)
CASES = {'raw_60': (60, 'keep'), 'raw_10': (10, 'keep'), 'noisy_removed_60': (60, 'remove'), 'insightface_replacement_60': (60, 'replace')}


@pytest.fixture(scope='module')
def reference(shared):
    """Set and embeddings by number of distractors, and what is expected."""
    folder = shared / 'reference/fixtures/ident'
    opened = {}
    for size in (10, 60):
        reader = EVALS.open(folder / 'megaface', size=size, lists_only=True)
        opened[size] = reader.set, read_megaface_features(reader, folder / 'megaface/feature_out', 'toy').embeddings
    return opened, json.loads((folder / 'expected.json').read_text())['megaface']


@pytest.mark.parametrize('case', CASES)
def test_the_numbers_are_those_of_the_reference(reference, case):
    (size, noise), want = CASES[case], reference[1][case]
    result = MegaFaceIdentification(noise=noise, fars=FARS)(*reference[0][size])
    assert (result['rank1'], result['trials']) == (want['rank1'], want['trials'])
    for point, (far, tar) in zip(result['tar_at_far'], want['tar'].items(), strict=True):
        assert (point['far_target'], point['tar'], point['genuine'], point['impostors']) == (
            float(far), tar, want['genuine'], want['impostor'])


def test_ties_are_misses(reference):
    assert MegaFaceIdentification()(*reference[0][60])['ties'] == 3  # with them as hits, rank 1 would be .4167 for .3667


def test_sizes_are_the_first_distractors_of_the_list(reference):
    result = MegaFaceIdentification(sizes=(60, 10), fars=FARS)(*reference[0][60])
    small = MegaFaceIdentification(fars=FARS)(*reference[0][10])
    for key in ('rank1', 'rank1_ci95', 'ties', 'tar_at_far', 'distractors'):
        assert result['sizes']['10'][key] == small[key]
        assert result['sizes']['60'][key] == result[key]


def generated(seed=0):
    """People with one to four images; distractors that are copies of probes."""
    random = np.random.default_rng(seed)
    ids = np.append(np.repeat(np.arange(8), [1, 4, 3, 2, 4, 4, 3, 1]), np.full(40, -1))
    vectors = random.normal(size=(8, 6))[ids.clip(0)] + random.normal(size=(62, 6))
    vectors[22:] = random.normal(size=(40, 6))
    vectors[30:36] = vectors[2:8]
    noisy = np.zeros(62, bool)
    noisy[[5, 9, 31, 40]] = True
    rows = np.arange(62)
    return SearchSet('generated', [f'{i}.jpg' for i in rows], rows[:22], rows[:22], rows[22:], ids, noisy=noisy), vectors.astype(np.float32)


@pytest.mark.parametrize('noise', ['keep', 'remove', 'replace'])
@pytest.mark.parametrize('seed', range(3))
def test_a_generated_set_gives_what_a_loop_gives_with_its_ties(seed, noise):
    search_set, vectors = generated(seed)
    unit = vectors.astype(float) / np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
    probes, distractors = list(search_set.probe), list(search_set.distractor)
    if noise != 'keep':
        distractors = [d for d in distractors if not search_set.noisy[d]]
    if noise == 'remove':
        probes = [p for p in probes if not search_set.noisy[p]]
    if noise == 'replace':
        for p in np.flatnonzero(search_set.noisy[:22]):
            centre = np.mean([unit[q] for q in probes if search_set.ids[q] == search_set.ids[p] and not search_set.noisy[q]], 0)
            unit[p] = centre / np.linalg.norm(centre)
    best = {p: max(np.round(unit[p] @ unit[d], 12) for d in distractors) for p in probes}
    mates = [(p, np.round(unit[p] @ unit[q], 12)) for p in probes for q in probes if p != q and search_set.ids[p] == search_set.ids[q]]
    impostor = np.array([np.round(unit[p] @ unit[d], 12) for p in probes for d in distractors])
    result = MegaFaceIdentification(noise=noise, fars=(0.002, 0.05, 1))(search_set, vectors)
    assert (result['probes'], result['trials'], result['distractors']) == (len(probes), len(mates), len(distractors))
    assert result['rank1'] == sum(score > best[p] for p, score in mates) / len(mates)
    if noise != 'replace':  # a centre of two is as near to one as to the other, but for rounding
        assert result['ties'] == sum(score == best[p] for p, score in mates)
    genuine = np.array([score for _, score in mates])
    for point in result['tar_at_far']:
        allowed = [t for t in (np.inf, *genuine, *impostor) if np.mean(impostor >= t) <= point['far_target']]
        assert point['tar'] == max(np.mean(genuine >= t) for t in allowed)
        assert point['impostors'] == len(impostor)


@pytest.mark.parametrize('switches, change, says', [
    (dict(noise='remove'), dict(noisy=None), 'has no list of noise'),
    (dict(sizes=(41, )), dict(), 'has 40 distractors, asked for are 41'),
    (dict(), dict(gallery=np.arange(21)), 'their own gallery'),
    (dict(), dict(ids=np.arange(62)), 'no person has two images'),
    (dict(noise='replace'), dict(noisy=np.arange(62) == 0), 'all images of person 0 are on the list of noise')])
def test_a_set_without_what_is_needed_is_refused(switches, change, says):
    search_set, vectors = generated()
    with pytest.raises(ValueError, match=says):
        MegaFaceIdentification(**switches)(replace(search_set, **change), vectors)


def test_the_fingerprint_follows_every_switch():
    switches = [dict(), dict(flip='add'), dict(noise='remove'), dict(noise='replace'), dict(sizes=(10, )), dict(fars=(0.1, ))]
    assert len({MegaFaceIdentification(**switch).hash for switch in switches}) == len(switches)
    with pytest.raises(ValueError, match="noise is 'drop', expected one of 'keep', 'remove', 'replace'"):
        MegaFaceIdentification(noise='drop')

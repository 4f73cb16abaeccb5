"""Intervals, detectable differences and verdicts of a comparison of recipes."""
from pathlib import Path

import numpy as np
import pytest

from mmface.apis.arena import AllPairs, ArenaData, draw_listed_pairs, estimate, genuine_pairs
from mmface.apis.arena.examiner import Examiner
from mmface.functional.operating_point import tar_at_far
from mmface.functional.roc import roc_curve
from mmface.structures import PairSet

PEOPLE = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 2, 2, 3, 3, 1, 4, 2])
IMAGES = [np.flatnonzero(person == PEOPLE) for person in range(12)]


def loop(embeddings: np.ndarray, genuine: np.ndarray, drawn: np.ndarray, far: float) -> float:
    """TAR of a drawn set of people, pair by pair, as if its people were different ones."""
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    same = [unit[a] @ unit[b] for person in drawn for a, b in genuine if PEOPLE[a] == person]
    other = [unit[a] @ unit[b] for i, p in enumerate(drawn) for q in drawn[:i] if p != q
             for a in IMAGES[p] for b in IMAGES[q]]  # yapf: disable
    return tar_at_far(roc_curve(np.array(same), np.array(other)), far).tar if same and other else np.nan


@pytest.mark.parametrize('kind', ['distinct', 'tied'])
def test_drawn_rates_are_those_of_a_loop_over_the_drawn_people(kind):
    rng = np.random.default_rng(1)
    embeddings = rng.normal(size=(len(PEOPLE), 4)) if kind == 'distinct' else np.eye(4)[rng.integers(4, size=len(PEOPLE))]
    genuine, replicates = genuine_pairs(PEOPLE, 4), 30
    found = AllPairs(PEOPLE, genuine, replicates, seed=5).tar(embeddings, (.1, .02, .5))
    draws = np.random.default_rng(5).integers(12, size=(replicates, 12))
    for far, rates in found.items():
        assert rates.value == pytest.approx(loop(embeddings, genuine, np.arange(12), far))
        np.testing.assert_allclose(rates.draws, [loop(embeddings, genuine, drawn, far) for drawn in draws])


def test_impostors_beyond_the_first_look_are_looked_at_where_a_draw_asks_for_them(monkeypatch):
    rng = np.random.default_rng(2)
    people = np.repeat(np.arange(40), 3)
    embeddings, genuine = rng.normal(size=(120, 3)), genuine_pairs(people)
    rates = AllPairs(people, genuine, 50).tar(embeddings, (.3, ))[.3]
    monkeypatch.setattr('mmface.apis.arena.all_pairs._SHARE', .5)  # the head then ends before the FAR
    np.testing.assert_array_equal(AllPairs(people, genuine, 50).tar(embeddings, (.3, ))[.3].draws, rates.draws)


def simulate(rng, truth: float, people: float, seeds: float, count: int = 3, replicates: int = 400):
    """A difference as measured: by chance off by ``people`` for all trainings together and by ``seeds`` for each."""
    values = truth + people * rng.normal() + seeds * rng.normal(size=count)
    draws = values[:, None] + people * rng.normal(size=replicates)
    return estimate(values, draws)


@pytest.mark.parametrize(('people', 'seeds'), [(1., 0.), (1., .5), (.3, 1.)])
def test_intervals_hold_the_truth_in_95_of_100_repetitions_and_no_difference_is_a_tie(people, seeds):
    rng = np.random.default_rng(0)
    found = [simulate(rng, 0., people, seeds) for _ in range(1500)]
    assert np.mean([e.verdict == 'tie' for e in found]) == pytest.approx(.95, abs=.025)


@pytest.mark.parametrize(('people', 'seeds', 'count'), [(1., 0., 3), (1., .5, 5), (.5, 1., 20), (.58, 1., 3)])
def test_the_detectable_difference_is_found_in_four_of_five_repetitions(people, seeds, count):
    rng = np.random.default_rng(0)
    size = np.mean([simulate(rng, 0., people, seeds, count).detectable for _ in range(500)])
    found = [simulate(rng, size, people, seeds, count).verdict == 'better' for _ in range(1500)]
    assert np.mean(found) == pytest.approx(.8, abs=.05)


def test_three_trainings_that_scatter_are_trusted_less_than_twenty():
    rng = np.random.default_rng(3)
    three, twenty = ([simulate(rng, 0., .1, 1., count).detectable for _ in range(200)] for count in (3, 20))
    assert np.median(three) > 3 * np.median(twenty)


def test_a_network_and_itself_are_a_tie_without_any_doubt():
    same = estimate(np.zeros(3), np.zeros((3, 50)))
    assert (same.interval, same.verdict, same.detectable) == ((0., 0.), 'tie', 0.)


def test_a_draw_without_an_answer_is_left_out_and_a_single_training_counts_people_alone():
    draws = np.array([[.1, .3, np.nan, .2]])
    found = estimate(np.array([.2]), draws)
    assert np.isnan(found.seeds) and np.isnan(found.detectable) and found.verdict == 'one seed'
    assert found.interval[1] - found.value == pytest.approx(1.959964 * np.nanstd(draws, ddof=1), rel=1e-5)


@pytest.fixture(scope='module')
def examiner():
    people = np.repeat(np.arange(60), 4)
    pairs, same, part = draw_listed_pairs(people, 200, 10)
    listed = PairSet('planted', [str(at) for at in range(240)], pairs, same, part, [f'{person:03d}' for person in people])
    return Examiner(ArenaData(Path(), 'procedural', 1, 1, listed, ''), 200)


def plant(folder: Path, noise: float, seed: int) -> Path:
    """The embeddings of a network that knows the people, up to noise."""
    centres = np.random.default_rng(99).normal(size=(60, 16))
    rows = centres.repeat(4, 0) + noise * np.random.default_rng(seed).normal(size=(240, 16))
    np.save(folder / f'{noise}_{seed}.npy', rows.astype(np.float32))
    return folder / f'{noise}_{seed}.npy'


@pytest.mark.parametrize(('noise', 'verdict'), [(1.2, 'tie'), (.8, 'better'), (1.8, 'worse')])
def test_planted_networks_get_their_verdict(examiner, tmp_path, noise, verdict):
    base = [examiner.examine(plant(tmp_path, 1.2, seed)) for seed in (0, 1, 2)]
    other = [examiner.examine(plant(tmp_path, noise, seed)) for seed in (10, 11, 12)]
    for measure in ('TAR@FAR=1e-2', 'accuracy'):
        values = np.array([b[measure].value - a[measure].value for a, b in zip(base, other, strict=True)])
        draws = np.array([b[measure].draws - a[measure].draws for a, b in zip(base, other, strict=True)])
        assert estimate(values, draws).verdict == verdict


def test_embeddings_of_other_images_are_refused(examiner, tmp_path):
    np.save(tmp_path / 'short.npy', np.ones((3, 4), np.float32))
    with pytest.raises(ValueError, match='3 embeddings of 240'):
        examiner.examine(tmp_path / 'short.npy')

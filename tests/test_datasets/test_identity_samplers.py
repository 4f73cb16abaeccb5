"""Identities in turn: evenly, in batches of P x K, on any number of ranks, from any position."""
import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from mmface.datasets import ClassAwareSampler, IdentityBalancedSampler
from mmface.datasets.samplers import epoch_sampler
from mmface.registry import DATA_SAMPLERS

COUNTS = (1, 2, 9, 30, 4, 1, 17)  # images of each identity
LABELS = np.random.default_rng(0).permutation(np.repeat(np.arange(len(COUNTS)), COUNTS))
FACES = SimpleNamespace(labels=LABELS)
PK = dict(identities=2, images=3)


def ranks(kind, world_size: int, monkeypatch, **options) -> list:
    """The samplers of all ranks."""
    samplers = []
    for rank in range(world_size):
        monkeypatch.setattr(epoch_sampler, 'get_dist_info', lambda rank=rank: (rank, world_size))
        samplers.append(kind(FACES, **options))
    return samplers


def take(sampler, count: int) -> list:
    return list(itertools.islice(sampler, count))


def test_each_identity_comes_once_in_each_round_and_its_images_take_turns():
    sampler = IdentityBalancedSampler(FACES, seed=3)
    indices = [at for _, at in sampler]
    assert len(sampler) == sum(COUNTS) == len(indices)
    rounds = [LABELS[indices[at:at + 7]].tolist() for at in range(0, len(indices), 7)]
    assert all(sorted(people) == list(range(7)) for people in rounds[:-1])
    assert len(set(rounds[-1])) == len(rounds[-1])
    assert len({tuple(people) for people in rounds}) == len(rounds), 'the order is another in each round'
    shown = Counter(indices)
    for person, images in enumerate(COUNTS):
        times = [shown[at] for at in np.flatnonzero(person == LABELS)]
        assert len(times) == images and max(times) - min(times) <= 1


@pytest.mark.parametrize('world_size', [1, 2, 3])
@pytest.mark.parametrize('identities, images', [(2, 3), (4, 2), (5, 1), (1, 4)])
def test_every_batch_has_p_identities_with_k_images_each(monkeypatch, world_size, identities, images):
    for sampler in ranks(ClassAwareSampler, world_size, monkeypatch, identities=identities, images=images):
        indices = np.array([at for _, at in sampler])
        assert len(indices) == len(sampler)
        for batch in indices.reshape(-1, identities, images):
            people = LABELS[batch]
            assert (people == people[:, :1]).all()
            assert len(set(people[:, 0])) == identities
            for person, shown in zip(people[:, 0], batch, strict=True):
                assert len(set(shown.tolist())) == min(images, COUNTS[person])


def test_all_people_with_two_images_come_equally_often_and_all_their_images(monkeypatch):
    sampler = ClassAwareSampler(FACES, **PK, endless=True)
    assert sampler.decks.dropped == 2
    indices = [at for _, at in take(sampler, 6 * 1000)]
    people = Counter(LABELS[indices].tolist())
    assert set(people) == {1, 2, 3, 4, 6}
    assert max(people.values()) < 1.25 * min(people.values())
    assert set(indices) == set(np.flatnonzero(~np.isin(LABELS, (0, 5))).tolist())


def test_in_an_epoch_without_leftovers_a_person_s_images_come_equally_often():
    labels = np.repeat(np.arange(4), [5, 9, 12, 40])
    shown = Counter(at for _, at in ClassAwareSampler(SimpleNamespace(labels=labels), **PK))
    for person in range(4):
        times = [shown[at] for at in np.flatnonzero(labels == person)]
        assert max(times) - min(times) <= 1


def test_people_with_one_image_can_be_kept_and_then_show_it_again():
    sampler = ClassAwareSampler(FACES, identities=7, images=2, min_images=1)
    batch = [at for _, at in take(sampler, 14)]
    alone = [at for at in batch if LABELS[at] in (0, 5)]
    assert sorted(Counter(alone).values()) == [2, 2]


@pytest.mark.parametrize('labels', [LABELS, np.array([0, 5, 5, -1, 0, -1, 9])])
@pytest.mark.parametrize('kind, options', [(IdentityBalancedSampler, {}), (ClassAwareSampler, dict(PK, min_images=1))])
def test_ignored_images_and_gaps_between_labels_are_no_people(labels, kind, options):
    sampler = kind(SimpleNamespace(labels=labels), **options)
    drawn = {at for _, at in sampler} | {at for _, at in kind(SimpleNamespace(labels=labels), seed=5, endless=False, **options)}
    assert (labels[list(drawn)] >= 0).all()


@pytest.mark.parametrize('kind, options', [(IdentityBalancedSampler, {}), (ClassAwareSampler, PK)])
class TestLikeOtherSamplers:

    def test_seed_and_epoch_decide_and_nothing_else(self, kind, options):
        first, again, other = (kind(FACES, seed=seed, **options) for seed in (1, 1, 2))
        assert list(first) == list(again) != list(other)
        again.set_epoch(1)
        assert {epoch for epoch, _ in again} == {1}
        assert [at for _, at in again] != [at for _, at in first]

    @pytest.mark.parametrize('skipped', [0, 1, 5, 6, 7, 29, 47])
    @pytest.mark.parametrize('world_size', [1, 2])
    def test_an_epoch_goes_on_where_it_was_left(self, kind, options, skipped, world_size, monkeypatch):
        for sampler in ranks(kind, world_size, monkeypatch, **options):
            sampler.set_epoch(4)
            whole = list(sampler)
            sampler.skip(skipped)
            assert list(sampler) == whole[skipped:]
            assert list(sampler) == whole, 'only the next iteration skips'

    @pytest.mark.parametrize('skipped', [0, 4, 60, 200])
    def test_without_end_it_plays_the_epochs_and_begins_anywhere(self, kind, options, skipped):
        epochs, endless = kind(FACES, **options), kind(FACES, endless=True, **options)
        whole = []
        for epoch in range(6):
            epochs.set_epoch(epoch)
            whole += list(epochs)
        endless.set_epoch(3)  # what MMEngine may say to any sampler
        endless.skip(skipped)
        assert take(endless, len(whole) - skipped) == whole[skipped:]

    def test_the_ranks_share_what_one_rank_would_do(self, kind, options, monkeypatch):
        size = options.get('identities', 1) * options.get('images', 1)
        (alone, ), shares = ranks(kind, 1, monkeypatch, **options), ranks(kind, 3, monkeypatch, **options)
        assert len({len(share) for share in shares}) == 1
        blocks = [[tuple(items[at:at + size]) for at in range(0, len(items), size)] for items in map(list, shares)]
        merged = [block for turn in zip(*blocks, strict=True) for block in turn]
        expected = take(alone, 10**9)
        common = min(len(merged) * size, len(expected))
        assert list(itertools.chain(*merged))[:common] == expected[:common]

    def test_the_seed_of_the_runner_reaches_it(self, kind, options):
        built = DATA_SAMPLERS.build(dict(type=kind.__name__, **options), default_args=dict(dataset=FACES, seed=8))
        assert list(built) == list(kind(FACES, seed=8, **options))


def test_too_few_people_are_refused():
    with pytest.raises(ValueError, match='5 identities with 2 images or more: too few for batches of 6'):
        ClassAwareSampler(FACES, identities=6, images=2)
    with pytest.raises(ValueError, match='no identity has 40 images'):
        ClassAwareSampler(FACES, identities=1, images=2, min_images=40)

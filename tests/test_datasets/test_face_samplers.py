"""Samplers: every sample once an epoch, the same order always, from any position."""
import itertools

import pytest
from mmengine.registry import init_default_scope
from mmengine.runner import Runner

from mmface.datasets import FaceSampler, InfiniteFaceSampler
from mmface.registry import DATA_SAMPLERS


def ranks(kind, size: int, world_size: int, monkeypatch, **options) -> list:
    """The samplers of all ranks."""
    samplers = []
    for rank in range(world_size):
        monkeypatch.setattr(f'{kind.__module__}.get_dist_info', lambda rank=rank: (rank, world_size))
        samplers.append(kind(range(size), **options))
    return samplers


def take(sampler, count: int) -> list:
    return list(itertools.islice(sampler, count))


def test_an_epoch_has_every_sample_once_in_an_order_of_its_own():
    sampler = FaceSampler(range(100), seed=3)
    epochs = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        items = list(sampler)
        assert {item[0] for item in items} == {epoch}
        assert sorted(item[1] for item in items) == list(range(100))
        epochs.append([item[1] for item in items])
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]


def test_seeds_and_epochs_do_not_stand_in_for_each_other():
    first, second = FaceSampler(range(50), seed=1), FaceSampler(range(50), seed=0)
    second.set_epoch(1)
    assert [at for _, at in first] != [at for _, at in second]


def test_without_shuffling_the_order_is_that_of_the_data():
    assert list(FaceSampler(range(4), shuffle=False)) == [(0, 0), (0, 1), (0, 2), (0, 3)]


@pytest.mark.parametrize('skipped', [0, 1, 37, 99, 100])
def test_an_epoch_can_go_on_where_it_was_left(skipped):
    sampler = FaceSampler(range(100), seed=5)
    sampler.set_epoch(2)
    whole = list(sampler)
    sampler.skip(skipped)
    assert list(sampler) == whole[skipped:]
    assert list(sampler) == whole, 'only the next iteration skips'
    assert len(sampler) == 100


@pytest.mark.parametrize('size, world_size', [(10, 1), (10, 3), (2, 5), (140000, 2)])
def test_ranks_share_an_epoch_and_wrap_round_to_equal_length(monkeypatch, size, world_size):
    shares = [list(sampler) for sampler in ranks(FaceSampler, size, world_size, monkeypatch)]
    assert [len(share) for share in shares] == [-(-size // world_size)] * world_size
    merged = [item for turn in zip(*shares, strict=True) for item in turn]
    assert sorted(set(merged)) == [(0, at) for at in range(size)]
    assert merged[size:] == (merged[:size] * world_size)[:len(merged) - size]


def test_without_rounding_up_no_sample_is_repeated(monkeypatch):
    samplers = ranks(FaceSampler, 10, 3, monkeypatch, round_up=False)
    shares = [list(sampler) for sampler in samplers]
    assert [len(share) for share in shares] == [len(sampler) for sampler in samplers] == [4, 3, 3]
    assert sorted(itertools.chain(*shares)) == [(0, at) for at in range(10)]


@pytest.mark.parametrize('world_size', [1, 3])
def test_the_endless_sampler_plays_the_epochs_of_the_other_one(monkeypatch, world_size):
    endless = ranks(InfiniteFaceSampler, 10, world_size, monkeypatch, seed=4)
    merged = [item for turn in zip(*(take(sampler, 30) for sampler in endless), strict=True) for item in turn]
    monkeypatch.undo()
    epochs = FaceSampler(range(10), seed=4)
    for epoch in range(3 * world_size):
        epochs.set_epoch(epoch)
        assert merged[10 * epoch:10 * epoch + 10] == list(epochs)


@pytest.mark.parametrize('world_size', [1, 3])
@pytest.mark.parametrize('skipped', [0, 4, 25])
def test_the_endless_sampler_can_go_on_in_any_epoch(monkeypatch, world_size, skipped):
    for sampler in ranks(InfiniteFaceSampler, 10, world_size, monkeypatch):
        whole = take(sampler, 60)
        sampler.skip(skipped)
        assert take(sampler, 60 - skipped) == whole[skipped:]


def test_skipping_far_into_training_takes_no_time():
    sampler = InfiniteFaceSampler(range(1000))
    sampler.skip(10**12 + 7)
    assert next(iter(sampler))[0] == 10**9


@pytest.mark.parametrize('name', ['FaceSampler', 'InfiniteFaceSampler'])
def test_the_seed_of_the_runner_reaches_the_sampler(name):
    sampler = DATA_SAMPLERS.build(dict(type=name), default_args=dict(dataset=range(9), seed=8))
    assert take(sampler, 9) == take(DATA_SAMPLERS.build(dict(type=name, dataset=range(9), seed=8)), 9)


def test_a_runner_builds_the_loader_of_a_config(small_rec):
    init_default_scope('mmface')
    loader = Runner.build_dataloader(
        dict(
            batch_size=4,
            num_workers=0,
            sampler=dict(type='FaceSampler'),
            collate_fn=dict(type='mmface.face_collate'),
            dataset=dict(
                type='FaceDataset',
                path=str(small_rec),
                pipeline=[dict(type='DecodeFace'), dict(type='RandomFlip', prob=0.5), dict(type='PackFace')])),
        seed=1)
    assert [len(batch['data_samples'].gt_label) for batch in loader] == [4, 4, 4, 3]

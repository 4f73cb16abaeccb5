from functools import cache

import pytest
import torch
from toy_training import iteration_based, log_of, record, train

from mmface.datasets.samplers.face_sampler import epoch_order

EVERY_5 = {'default_hooks.checkpoint.by_epoch': False, 'default_hooks.checkpoint.interval': 5}
WORKERS = {'train_dataloader.num_workers': 2, 'train_dataloader.persistent_workers': True}
KINDS = {
    'epochs': {},  # a checkpoint at the end of each of 3 epochs of 10 iterations
    'mid-epoch': EVERY_5,
    'iterations': iteration_based(**EVERY_5),
    'sampled': {**EVERY_5, 'model.head.engine': dict(type='SampledEngine', ratio=.4), 'model.head.num_classes': 40},
}


@pytest.fixture(scope='module')
def uninterrupted(tmp_path_factory):
    """Work directory and changes of an uninterrupted run; each is done once."""

    @cache
    def run(kind, workers):
        changes = {**KINDS[kind], **(WORKERS if workers else {})}
        work_dir = tmp_path_factory.mktemp('uninterrupted')
        train(work_dir, **changes)
        return work_dir, changes

    return run


def equal(a, b, where=''):
    """Asserts that two checkpoints, or parts of them, are the same to the last bit, times apart."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a.keys() - {'train/time', 'train/data_time', 'val/time', 'val/data_time', 'eta', 'time', 'cfg', 'experiment_name'}:
            equal(a[key], b[key], f'{where}[{key!r}]')
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            equal(x, y, f'{where}[{i}]')
    elif isinstance(a, torch.Tensor):
        assert torch.equal(a, b), where
    else:
        assert a == b, where


# The weights move at iterations 3, 6, 9 ...: 5, 10 and 20 are in the middle of an accumulation, 10 and 20 also the ends of epochs.
@pytest.mark.parametrize('workers', [0, 2])
@pytest.mark.parametrize('kind, checkpoint, last', [
    ('epochs', 'epoch_1', 'epoch_3'),
    ('epochs', 'epoch_2', 'epoch_3'),
    ('mid-epoch', 'iter_5', 'iter_30'),
    ('mid-epoch', 'iter_10', 'iter_30'),
    ('mid-epoch', 'iter_20', 'iter_30'),
    ('iterations', 'iter_5', 'iter_24'),
    ('iterations', 'iter_20', 'iter_24'),
    ('sampled', 'iter_5', 'iter_30'),
    ('sampled', 'iter_20', 'iter_30'),
])
def test_a_run_resumed_from_any_checkpoint_is_the_whole_one_to_the_last_bit(uninterrupted, kind, checkpoint, last, workers, tmp_path):
    work_dir, changes = uninterrupted(kind, workers)
    train(tmp_path / 'resumed', load_from=str(work_dir / f'{checkpoint}.pth'), resume=True, **changes)

    whole, rest = record(work_dir), record(tmp_path / 'resumed')
    begin = torch.load(work_dir / f'{checkpoint}.pth')['meta']['iter']
    assert rest == {(what, i): values for (what, i), values in whole.items() if i > begin or (what == 'val' and i == begin)}
    equal(torch.load(work_dir / f'{last}.pth'), torch.load(tmp_path / 'resumed' / f'{last}.pth'))


@pytest.mark.parametrize('kind', ['epochs', 'iterations'])
def test_the_loops_train_as_mmengines_own(uninterrupted, kind, tmp_path):
    work_dir, changes = uninterrupted(kind, 0)
    stock = dict(
        epochs=dict(type='EpochBasedTrainLoop', max_epochs=3), iterations=dict(type='IterBasedTrainLoop', max_iters=24, val_interval=8))
    train(tmp_path / 'stock', **{**changes, 'train_cfg': dict(stock[kind], _delete_=True)})
    assert record(tmp_path / 'stock') == record(work_dir)


def test_workers_change_nothing(uninterrupted):
    assert record(uninterrupted('epochs', 0)[0]) == record(uninterrupted('epochs', 2)[0])


@pytest.mark.parametrize('kind', ['mid-epoch', 'iterations'])
def test_what_was_seen_is_not_read_again(kind, tmp_path):
    changes = KINDS[kind]
    train(tmp_path / 'a', **changes)
    runner = train(tmp_path / 'b', load_from=str(tmp_path / 'a/iter_20.pth'), resume=True, **changes)
    seen_before = 2 * 38 if kind == 'mid-epoch' else 20 * 4
    total = 3 * 38 if kind == 'mid-epoch' else 24 * 4
    assert len(runner.train_dataloader.dataset.reads) == total - seen_before


def test_a_sampler_without_skip_is_read_through_and_said_so(tmp_path):
    changes = {**EVERY_5, 'train_dataloader.sampler': dict(type='DefaultSampler', shuffle=True)}
    train(tmp_path / 'a', **changes)
    runner = train(tmp_path / 'b', load_from=str(tmp_path / 'a/iter_25.pth'), resume=True, **changes)
    assert len(runner.train_dataloader.dataset.reads) == 38
    assert 'DefaultSampler has no skip(): reading 5 batches again' in log_of(tmp_path / 'b')


def test_the_place_is_found_again_with_another_batch_size(tmp_path):
    train(tmp_path / 'a', **EVERY_5)  # iteration 15: 20 samples into the second epoch
    runner = train(
        tmp_path / 'b', load_from=str(tmp_path / 'a/iter_15.pth'), resume=True, **{
            **EVERY_5, 'train_dataloader.batch_size': 2
        })
    second_epoch = [index for epoch, index in runner.train_dataloader.dataset.reads if epoch == 1]
    assert len(second_epoch) == 18
    assert second_epoch == epoch_order(38, shuffle=True, seed=7, epoch=1)[20:].tolist()


def test_a_random_seed_is_taken_from_the_checkpoint_by_the_sampler_too(tmp_path):
    train(tmp_path / 'a', **EVERY_5, **{'randomness.seed': None})
    train(tmp_path / 'b', load_from=str(tmp_path / 'a/iter_5.pth'), resume=True, **EVERY_5, **{'randomness.seed': None})
    whole, rest = record(tmp_path / 'a'), record(tmp_path / 'b')
    assert rest == {key: whole[key] for key in rest}


def test_a_validation_that_the_interruption_swallowed_is_made_up_for(tmp_path):
    train(tmp_path / 'a', **{'default_hooks.checkpoint.save_best': 'toy/accuracy'})
    best_of_whole = [path.name for path in (tmp_path / 'a').glob('best*')]
    train(tmp_path / 'killed', **{'train_cfg.max_epochs': 3, 'train_cfg.val_begin': 99})  # as if killed before each validation
    train(tmp_path / 'killed', resume=True, **{'default_hooks.checkpoint.save_best': 'toy/accuracy'})
    assert [path.name for path in (tmp_path / 'killed').glob('best*')] == best_of_whole == ['best_toy_accuracy_epoch_3.pth']


def test_an_endless_sampler_is_asked_for_by_name(tmp_path):
    with pytest.raises(ValueError, match=r'ended at iteration 10 of 24.*InfiniteFaceSampler'):
        train(tmp_path, **iteration_based(**{'train_dataloader.sampler.type': 'FaceSampler'}))

import pytest
from toy_training import log_of, record, train

NO_VALIDATION = {'val_cfg': None, 'val_dataloader': None, 'val_evaluator': None}
EPOCHS = dict(begin=0, by_epoch=True)
CONVERTED = dict(EPOCHS, convert_to_iter_based=True)
SCHEDULES = {
    'poly by epoch': lambda n: [dict(type='PolyLR', power=2, end=n, **EPOCHS)],
    'poly by iteration': lambda n: [dict(type='PolyLR', power=2, end=n, **CONVERTED)],
    'multistep by epoch': lambda n: [dict(type='MultiStepLR', milestones=[1, n - 1], end=n, **EPOCHS)],
    'multistep by iteration': lambda n: [dict(type='MultiStepLR', milestones=[1, n - 1], end=n, **CONVERTED)],
    'cosine by epoch': lambda n: [dict(type='CosineAnnealingLR', T_max=n, end=n, **EPOCHS)],
    'cosine by iteration': lambda n: [dict(type='CosineAnnealingLR', T_max=n, end=n, **CONVERTED)],
    'warm-up, then poly': lambda n: [
        dict(type='LinearLR', start_factor=.1, begin=0, end=4, by_epoch=False),
        dict(type='PolyLR', begin=1, end=n, by_epoch=True, convert_to_iter_based=True)
    ],
    'warm-up by iteration, poly by epoch': lambda n: [
        dict(type='LinearLR', start_factor=.1, begin=0, end=14, by_epoch=False),
        dict(type='PolyLR', eta_min=.03, end=n, **EPOCHS)  # a floor, so that the order of the steps matters
    ],
}


def epochs(n, schedule):
    return {**NO_VALIDATION, 'train_cfg.max_epochs': n, 'param_scheduler': schedule}


def learning_rates(work_dir):
    return {iteration: float.fromhex(values[-1]) for (_, iteration), values in record(work_dir).items()}


@pytest.mark.parametrize('name', SCHEDULES)
def test_resumed_for_more_epochs_the_learning_rate_is_that_of_a_run_begun_with_them(name, tmp_path):
    schedule = SCHEDULES[name]
    train(tmp_path / 'whole', **epochs(4, schedule(4)))
    train(tmp_path / 'stopped', **epochs(2, schedule(2)))
    train(tmp_path / 'resumed', load_from=str(tmp_path / 'stopped/epoch_2.pth'), resume=True, **epochs(4, schedule(4)))
    expected = {i: lr for i, lr in learning_rates(tmp_path / 'whole').items() if i > 20}
    assert len(expected) == 20
    assert learning_rates(tmp_path / 'resumed') == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert max(expected.values()) > 1e-4


def test_it_is_said_once_with_what_changed(tmp_path):
    schedule = SCHEDULES['poly by epoch']
    train(tmp_path / 'stopped', **epochs(1, schedule(2)))
    train(tmp_path / 'resumed', load_from=str(tmp_path / 'stopped/epoch_1.pth'), resume=True, **epochs(2, schedule(3)))
    log = log_of(tmp_path / 'resumed')
    assert log.count('takes force') == 1
    assert 'from epoch 1, iteration 10' in log
    assert 'PolyLR end: 2 -> 3' in log


def test_a_new_base_learning_rate_takes_force_too(tmp_path):
    schedule = SCHEDULES['multistep by epoch'](4)
    train(tmp_path / 'stopped', **epochs(1, schedule))
    changes = {**epochs(2, schedule), 'optim_wrapper.optimizer.lr': .5}
    train(tmp_path / 'resumed', load_from=str(tmp_path / 'stopped/epoch_1.pth'), resume=True, **changes)
    assert learning_rates(tmp_path / 'resumed')[12] == pytest.approx(.05)


def test_an_unchanged_schedule_is_restored_in_silence(tmp_path):
    schedule = SCHEDULES['warm-up, then poly'](4)
    train(tmp_path / 'stopped', **epochs(1, schedule))
    train(tmp_path / 'resumed', load_from=str(tmp_path / 'stopped/epoch_1.pth'), resume=True, **epochs(2, schedule))
    assert 'takes force' not in log_of(tmp_path / 'resumed')


def test_another_number_of_schedulers_takes_force(tmp_path):
    train(tmp_path / 'stopped', **epochs(1, [dict(type='PolyLR', end=4, **EPOCHS)]))
    train(
        tmp_path / 'resumed',
        load_from=str(tmp_path / 'stopped/epoch_1.pth'),
        resume=True,
        **epochs(2, [dict(type='MultiStepLR', milestones=[1], **EPOCHS),
                     dict(type='MultiStepLR', milestones=[1], **EPOCHS)]))
    assert learning_rates(tmp_path / 'resumed')[11] == pytest.approx(.001)

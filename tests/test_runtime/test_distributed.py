import os

import pytest
import torch
from torchrun import torchrun
from toy_training import record, train

from mmface.utils.dist import init_cpu_group

# Without what makes a step depend on how the batch is divided: batch statistics and dropout.
SAME_IN_ONE = {'model.backbone.batch_norm': False, 'model.neck.dropout': 0., 'val_cfg': None, 'val_dataloader': None, 'val_evaluator': None}
SAMPLED = {'model.head.engine': dict(type='SampledEngine', ratio=.5), 'model.head.num_classes': 40}
EVERY_3 = {'default_hooks.checkpoint.by_epoch': False, 'default_hooks.checkpoint.interval': 3, 'optim_wrapper.accumulative_counts': 2}


@pytest.fixture(scope='module')
def two_ranks(tmp_path_factory):
    """The work directory of several runs, one after the other, in the same two processes."""
    work_dir = tmp_path_factory.mktemp('two_ranks')
    runs = [
        dict(work_dir=str(work_dir / 'plain'), changes=SAME_IN_ONE),
        dict(work_dir=str(work_dir / 'whole'), changes=EVERY_3),
        dict(work_dir=str(work_dir / 'resumed'), changes={
            **EVERY_3, 'load_from': str(work_dir / 'whole/iter_9.pth'),
            'resume': True
        }),
        dict(work_dir=str(work_dir / 'sampled'), changes={**SAME_IN_ONE, **SAMPLED}),
        dict(work_dir=str(work_dir / 'sampled whole'), changes={**EVERY_3, **SAMPLED}),
        dict(
            work_dir=str(work_dir / 'sampled resumed'),
            changes={
                **EVERY_3,
                **SAMPLED, 'load_from': str(work_dir / 'sampled whole/iter_9.pth'),
                'resume': True
            }),
    ]
    code, errors = torchrun('toy_training.py', 2, runs)
    assert code == 0, errors
    return work_dir


def test_the_model_is_the_same_on_both_ranks(two_ranks):
    for run in ('plain', 'whole', 'sampled', 'sampled whole'):
        first, second = (torch.load(two_ranks / run / f'rank{rank}.pth')['state'] for rank in (0, 1))
        assert first.keys() == second.keys()
        for name, value in first.items():
            assert torch.equal(value, second[name]), (run, name)


@pytest.mark.parametrize('run, changes', [('plain', {}), ('sampled', SAMPLED)])
def test_two_ranks_compute_what_one_does_with_the_whole_batch_and_log_the_mean_loss(run, changes, two_ranks, tmp_path):
    train(tmp_path, **SAME_IN_ONE, **changes, **{'train_dataloader.batch_size': 8})
    one, two = record(tmp_path), record(two_ranks / run)
    assert one.keys() == two.keys()
    for key, values in one.items():
        assert [float.fromhex(v) for v in two[key]] == pytest.approx([float.fromhex(v) for v in values], rel=2e-4), key
    state = torch.load(tmp_path / 'epoch_3.pth')['state_dict']
    for name, value in torch.load(two_ranks / run / 'rank0.pth')['state'].items():
        assert torch.allclose(value, torch.load(tmp_path / 'epoch_3.pth')['ema_state_dict'][f'module.{name}'], rtol=1e-3, atol=1e-4), name
    assert state


@pytest.mark.parametrize('kind', ['', 'sampled '])
def test_two_ranks_resume_in_the_middle_of_an_accumulation_to_the_last_bit(kind, two_ranks):
    whole, rest = record(two_ranks / f'{kind}whole'), record(two_ranks / f'{kind}resumed')
    assert {i for what, i in rest if what == 'train'} == set(range(10, 16))
    assert rest == {key: whole[key] for key in rest}
    for rank in (0, 1):
        a, b = (torch.load(two_ranks / f'{kind}{run}' / f'rank{rank}.pth')['state'] for run in ('whole', 'resumed'))
        assert all(torch.equal(a[name], b[name]) for name in a)


def test_an_unknown_launcher_is_named():
    with pytest.raises(ValueError, match=r"launcher must be one of \['mpi', 'pytorch', 'slurm'\], got 'ssh'"):
        init_cpu_group('ssh')


@pytest.mark.parametrize('launcher, environment', [
    ('slurm', dict(SLURM_PROCID='1', SLURM_NTASKS='4', SLURM_LOCALID='0', MASTER_ADDR='node7')),
    ('mpi', dict(OMPI_COMM_WORLD_RANK='1', OMPI_COMM_WORLD_SIZE='4', OMPI_COMM_WORLD_LOCAL_RANK='0', MASTER_ADDR='node7')),
])
def test_each_launcher_says_in_its_own_words_who_a_process_is(launcher, environment, monkeypatch):
    for name in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_PORT'):
        monkeypatch.setenv(name, '')  # restored afterwards
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    joined = []
    monkeypatch.setattr(torch.distributed, 'init_process_group', lambda backend, timeout: joined.append((backend, timeout.total_seconds())))
    init_cpu_group(launcher, timeout=60)
    assert joined == [('gloo', 60)]
    assert {name: os.environ[name] for name in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_PORT')} == dict(
        RANK='1', WORLD_SIZE='4', LOCAL_RANK='0', MASTER_PORT='29500')

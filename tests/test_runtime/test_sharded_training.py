"""Whole trainings with a sharded head: on 1, 2 and 3 ranks, stopped on 2 and resumed on 1 and 3, killed, and damaged."""
import json
import re
import shutil

import pytest
import torch
from sharded_training import KINDS, on_ranks, run, weights
from toy_training import log_of, record

STILL = {'optim_wrapper.optimizer.lr': 1e-300, 'train_cfg.max_epochs': 1, 'custom_hooks': [], 'val_cfg': None, 'val_dataloader': None,
         'val_evaluator': None}
AMP = {'model.type': 'FaceRecognizer', 'optim_wrapper.type': 'FaceAmpOptimWrapper', 'optim_wrapper.dtype': 'float16',
       'optim_wrapper.loss_scale': 1024.}
STOCK = {'default_hooks.checkpoint': dict(type='CheckpointHook', interval=1, _delete_=True)}


def resumed(path):
    return {'load_from': str(path), 'resume': True}


def loaded(path):
    return {'load_from': str(path), **STILL}


@pytest.fixture(scope='module')
def work(tmp_path_factory):
    """A folder of finished runs, named after the number of ranks and what they did."""
    work = tmp_path_factory.mktemp('sharded')
    for kind in KINDS:
        run(work / f'1 {kind}', {}, kind)
    run(work / 'whole', {'model.head.sharded': False})
    amp = [(work / '2 amp', AMP), (work / '2 amp resumed', {**AMP, **resumed(work / '2 amp/iter_20.pth')})]
    on_ranks(2, [*(dict(work_dir=str(work / f'2 {kind}'), changes={}, kind=kind) for kind in KINDS),
                 *(dict(work_dir=str(work_dir), changes=changes) for work_dir, changes in amp)])
    on_ranks(2, [dict(work_dir=str(work / 'killed'), changes={'default_hooks.checkpoint.max_keep_ckpts': 1}, dies=[1, 2])], succeeds=False)

    stopped = work / '2 sgd/iter_20.pth'
    damaged = {}
    for damage in ('missing', 'truncated', 'strange'):
        folder = work / f'damaged {damage}'
        folder.mkdir()
        shutil.copy(stopped, folder)
        source = work / '1 sgd' if damage == 'strange' else stopped.parent
        shutil.copytree(source / 'iter_20.shards', folder / 'iter_20.shards')
        damaged[damage] = folder / 'iter_20.pth'
    next(damaged['missing'].parent.glob('*.shards/*/rank_00001.safetensors')).unlink()
    file = next(damaged['truncated'].parent.glob('*.shards/*/rank_00001.safetensors'))
    file.write_bytes(file.read_bytes()[:-8])

    runs = [dict(work_dir=f'3 {kind}', changes={}, kind=kind) for kind in KINDS]
    runs += [dict(work_dir=f'3 from 2 {kind}', changes=resumed(work / f'2 {kind}/iter_20.pth'), kind=kind) for kind in KINDS]
    runs += [
        dict(work_dir='3 from whole', changes=resumed(work / 'whole/iter_20.pth')),
        dict(work_dir='3 loaded', changes=loaded(stopped)),
        dict(work_dir='3 loaded whole', changes=loaded(work / 'whole/iter_20.pth')),
        dict(work_dir='3 loaded 13 classes', changes={**loaded(stopped), 'model.head.num_classes': 13}),
        dict(work_dir='3 centroids', changes={**STILL, 'custom_hooks': [dict(type='CentroidInitHook')], 'model.head.num_classes': 13}),
        dict(work_dir='3 resumed 13 classes', changes={**resumed(stopped), 'model.head.num_classes': 13}, fails=True),
        dict(work_dir='3 stock hook', changes=STOCK, fails=True),
    ]
    runs += [dict(work_dir=f'3 {damage}', changes=resumed(path), fails=True) for damage, path in damaged.items()]
    on_ranks(3, [{**arguments, 'work_dir': str(work / arguments['work_dir'])} for arguments in runs])
    for kind in KINDS:
        run(work / f'1 from 2 {kind}', resumed(work / f'2 {kind}/iter_20.pth'), kind)
    run(work / '1 centroids', {**STILL, 'custom_hooks': [dict(type='CentroidInitHook')], 'model.head.num_classes': 13,
                               'model.head.sharded': False})
    return work


def errors(work_dir):
    """What each rank ended with."""
    return [path.read_text() for path in sorted(work_dir.glob('rank?.error'))]


def assert_coincide(one, other, first=1):
    """Losses, learning rates and validations from iteration ``first`` on, and the final weights."""
    a, b = ({key: values for key, values in record(run).items() if key[1] >= first} for run in (one, other))
    assert a.keys() == b.keys()
    assert len([key for key in a if key[0] == 'train']) == 41 - first
    for key, values in a.items():
        assert [float.fromhex(v) for v in b[key]] == pytest.approx([float.fromhex(v) for v in values], rel=1e-9, abs=1e-12), key
    a, b = weights(one), weights(other)
    assert a.keys() == b.keys()
    for name, value in a.items():
        torch.testing.assert_close(b[name], value, rtol=1e-9, atol=1e-11, msg=lambda text, name=name: f'{name}: {text}')


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('ranks', [2, 3])
def test_forty_steps_coincide_with_those_of_one_rank(ranks, kind, work):
    assert_coincide(work / f'1 {kind}', work / f'{ranks} {kind}')


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('ranks', [1, 3])
def test_stopped_on_two_ranks_and_resumed_on_others_it_is_the_uninterrupted_run(ranks, kind, work):
    assert min(i for what, i in record(work / f'{ranks} from 2 {kind}') if what == 'train') == 21
    assert_coincide(work / f'2 {kind}', work / f'{ranks} from 2 {kind}', first=21)


def test_sharded_it_is_the_run_of_the_whole_head(work):
    assert_coincide(work / 'whole', work / '1 sgd')


def test_a_run_of_a_whole_head_is_resumed_with_a_sharded_one(work):
    assert_coincide(work / 'whole', work / '3 from whole', first=21)


@pytest.mark.parametrize('kind', KINDS)
def test_the_pth_file_does_not_remember_the_number_of_ranks(kind, work):
    one, two, three = (torch.load(work / f'{ranks} {kind}/iter_20.pth') for ranks in (1, 2, 3))
    for other in (two, three):
        assert other['state_dict'].keys() == one['state_dict'].keys()
        assert not [name for name in one['state_dict'] if name.endswith(('head.weight', 'head.bias', 'head.memory', 'head.seen'))]
        assert other['meta']['shards']['tensors'] == one['meta']['shards']['tensors']
        for key in ('state', 'grads'):
            torch.testing.assert_close(other['optimizer'][key], one['optimizer'][key], rtol=1e-9, atol=1e-11)
        torch.testing.assert_close(dict(other['ema_state_dict']), dict(one['ema_state_dict']), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize('kind', KINDS)
def test_each_rank_writes_its_own_rows_only(kind, work):
    sizes = {}
    for ranks in (1, 2, 3):
        folder = next((work / f'{ranks} {kind}/iter_20.shards').iterdir())
        index = json.loads((folder / 'index.json').read_text())
        assert index['ranks'] == ranks == len(index['files'])
        sizes[ranks] = sum(path.stat().st_size for path in folder.glob('*.safetensors'))
    assert sizes[3] < sizes[1] + 3 * 1500  # headers


def test_weights_alone_are_loaded_on_another_number_of_ranks(work):
    saved, found = torch.load(work / '2 sgd/iter_20.pth')['state_dict'], weights(work / '3 loaded')
    for name in (name for name in saved if name.startswith(('backbone', 'neck'))):
        assert torch.equal(found[name], saved[name]), name
    run_2 = torch.load(work / 'whole/iter_20.pth')['state_dict']
    torch.testing.assert_close(found['head.weight'], run_2['head.weight'], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(weights(work / '3 loaded whole')['head.weight'], run_2['head.weight'], rtol=0, atol=0)


def test_another_number_of_classes_keeps_the_network_and_starts_the_head_fresh(work):
    found = weights(work / '3 loaded 13 classes')
    assert found['head.weight'].shape == (13, 6)
    assert not torch.equal(found['head.weight'][:11], weights(work / '3 loaded')['head.weight'])
    assert torch.equal(found['backbone.layers.0.weight'], weights(work / '3 loaded')['backbone.layers.0.weight'])
    said = log_of(work / '3 loaded 13 classes')
    assert 'the head starts fresh: head.weight is (11, 6) in the checkpoint and (13, 6) in the model' in said


def test_prototypes_start_from_the_same_means_however_many_ranks(work):
    a, b = (weights(work / f'{ranks} centroids') for ranks in (1, 3))
    torch.testing.assert_close(a['head.weight'], b['head.weight'], rtol=0, atol=1e-6)
    assert b['head.weight'][:11].norm(dim=1).tolist() == pytest.approx([1] * 11)


def test_with_a_scaled_loss_a_resumed_run_is_the_same_to_the_last_bit(work):
    whole, rest = record(work / '2 amp'), record(work / '2 amp resumed')
    assert rest == {key: whole[key] for key in rest}
    a, b = weights(work / '2 amp'), weights(work / '2 amp resumed')
    assert all(torch.equal(b[name], value) for name, value in a.items())


def test_a_rank_killed_in_the_middle_of_a_checkpoint_leaves_the_one_before(work):
    killed = work / 'killed'
    assert (killed / 'last_checkpoint').read_text() == 'iter_20.pth'
    assert sorted(path.name for path in killed.glob('iter_*')) == ['iter_20.pth', 'iter_20.shards', 'iter_40.shards']
    assert [path.suffix for path in (killed / 'iter_40.shards').iterdir()] == ['.tmp']
    (killed / 'rank0.pth').unlink(missing_ok=True)
    run(killed, {'resume': True, 'default_hooks.checkpoint.max_keep_ckpts': 1})
    assert_coincide(work / '1 sgd', killed)
    assert sorted(path.name for path in killed.glob('iter_*')) == ['iter_40.pth', 'iter_40.shards']
    assert len(list((killed / 'iter_40.shards').iterdir())) == 1


@pytest.mark.parametrize('what, message', [
    ('missing', r'rank_00001.safetensors: is missing'),
    ('truncated', r'rank_00001.safetensors: [0-9,]+ bytes: .* were written'),
    ('strange', r'iter_20.shards: .*belongs to another checkpoint'),
    ('resumed 13 classes', r'head.weight is \(11, 6\) in the checkpoint and \(13, 6\) in the model.* Resuming needs the model'),
    ('stock hook', r'no hook saves the shards'),
])
def test_what_is_wrong_is_named_on_every_rank(what, message, work):
    found = errors(work / f'3 {what}')
    assert len(found) == 3
    for error in found:
        assert re.search(message, error)

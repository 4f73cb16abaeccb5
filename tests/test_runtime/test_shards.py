"""Shard folders in a single process: what is written, what is refused, what a kill leaves."""
import json
import shutil
import zlib
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from test_atomic_checkpoint_hook import KEEP_1, run_to_its_death
from toy_training import log_of, record, train

from mmface.models.heads.class_shard import ShardSpec
from mmface.registry import OPTIMIZERS
from mmface.runtime.shards.rows import Rows
from mmface.runtime.shards.safetensors_stream import Stream, write_safetensors
from mmface.runtime.shards.shard_folder import load_shards, save_shards
from mmface.runtime.shards.shard_index import ShardIndex

SHARDED = {'model.head.sharded': True, 'custom_hooks': [dict(type='FaceEMAHook', momentum=.1), dict(type='Recorder')]}
TENSORS = {
    'model/weight': torch.randn(7, 3, dtype=torch.float64),
    'model/seen': torch.arange(7),
    'optimizer/weight/exp_avg': torch.randn(7, 3).bfloat16(),
    'model/flags': torch.arange(7) > 3,
    'gradient/weight/rows': torch.empty(0, dtype=torch.int64),
}


def rows(tensors, start=0, stop=None):
    """These rows of all ``tensors``, copied."""
    return {name: Rows(t[start:stop].clone(), ShardSpec(len(t), start, len(t) if stop is None else stop)) for name, t in tensors.items()}


@pytest.fixture
def folder(tmp_path):
    name = save_shards(tmp_path / 'epoch_1.shards', rows(TENSORS))
    return tmp_path / 'epoch_1.shards' / name


def index_of(folder):
    return json.loads((folder / 'index.json').read_text())


def test_any_rows_of_what_was_written_are_read_back(folder):
    index = ShardIndex.read(folder)
    index.check_files(folder)
    for start, stop in ((0, 7), (2, 5), (6, 7), (7, 7)):
        wanted = {name: Rows(torch.zeros_like(r.local), r.spec) for name, r in rows(TENSORS, start, stop).items() if r.spec.size == 7}
        load_shards(folder, index, wanted)
        for name, found in wanted.items():
            assert torch.equal(found.local, TENSORS[name][start:stop]), (name, start, stop)


def test_another_library_reads_the_same_tensors(folder):
    found = load_file(folder / 'rank_00000.safetensors')
    assert found.keys() == TENSORS.keys()
    assert all(torch.equal(found[name], value) for name, value in TENSORS.items())


def test_the_index_says_what_is_in_the_file(folder):
    index, file = index_of(folder), (folder / 'rank_00000.safetensors').read_bytes()
    assert index['id'] == folder.name
    assert index['files'] == {'rank_00000.safetensors': dict(bytes=len(file), crc32=zlib.crc32(file))}
    assert index['tensors']['model/weight'] == dict(
        dtype='float64', shape=[7, 3], parts=[dict(file='rank_00000.safetensors', start=0, stop=7)])


def test_pieces_that_are_not_the_tensor_are_noticed(tmp_path):
    with pytest.raises(ValueError, match='the pieces of a are not'), (tmp_path / 'a').open('wb') as file:
        write_safetensors(file, {'a': Stream(torch.float32, (3, ), [torch.zeros(2)])})
    with pytest.raises(ValueError, match='complex64'), (tmp_path / 'a').open('wb') as file:
        write_safetensors(file, {'a': Stream.of(torch.zeros(2, dtype=torch.complex64))})


def edit(**changes):
    return lambda index: index.update(changes)


def edit_weight(**changes):
    return lambda index: index['tensors']['model/weight'].update(changes)


@pytest.mark.parametrize('change, message', [
    (edit(schema=2), 'has schema 2'),
    (edit(tensors=3), 'damaged'),
    (edit(files=None), 'damaged'),
    (edit_weight(dtype='object'), 'model/weight: has the unknown type'),
    (edit_weight(shape=[8, 3]), 'lacks the rows from 7 to 8'),
    (edit_weight(shape=[-1, 3]), 'impossible shape'),
    (edit_weight(parts=[]), 'lacks the rows from 0'),
    (edit_weight(parts=[dict(file='../x', start=0, stop=7)]), r"names the file '../x'"),
    (edit_weight(parts=[dict(file='rank_00000.safetensors', start=1, stop=7)]), 'lacks the rows from 0 on'),
])
def test_a_damaged_index_is_named_with_what_is_wrong(change, message, folder):
    index = index_of(folder)
    change(index)
    (folder / 'index.json').write_text(json.dumps(index))
    with pytest.raises(ValueError, match=f'index.json: .*{message}'):
        ShardIndex.read(folder)


def test_a_file_of_the_right_size_with_other_tensors_is_named(folder):
    path = folder / 'rank_00000.safetensors'
    content = path.read_bytes().replace(b'"shape": [7, 3]', b'"shape": [3, 7]')
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r'rank_00000.safetensors: .*model/weight.* has shape \[3, 7\]'):
        ShardIndex.read(folder).check_files(folder)
    path.write_bytes(b'\xff' * len(content))
    with pytest.raises(ValueError, match=r'rank_00000.safetensors: .*damaged'):
        ShardIndex.read(folder).check_files(folder)


def left_in(work_dir):
    return sorted(path.name for path in work_dir.iterdir() if path.name.startswith('epoch'))


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    work_dir = tmp_path_factory.mktemp('whole')
    train(work_dir, **KEEP_1, **SHARDED)
    return work_dir


# Moments in the life of the second checkpoint: what must lie on the disk, what the pointer says
@pytest.mark.parametrize('moment, files, named', [
    ('written', ['epoch_1.pth', 'epoch_1.shards', 'epoch_2.pth.tmp', 'epoch_2.shards'], 'epoch_1.pth'),
    ('renamed', ['epoch_1.pth', 'epoch_1.shards', 'epoch_2.pth', 'epoch_2.shards'], 'epoch_1.pth'),
    ('pointed', ['epoch_1.pth', 'epoch_1.shards', 'epoch_2.pth', 'epoch_2.shards'], 'epoch_2.pth'),
    ('pruning', ['epoch_1.pth', 'epoch_2.pth', 'epoch_2.shards'], 'epoch_2.pth'),
])
def test_a_run_killed_at_any_moment_of_saving_resumes_and_ends_as_the_whole_one(moment, files, named, whole, tmp_path):
    nth = 1 if moment == 'pruning' else 2
    run_to_its_death(tmp_path / 'killed', [moment, nth], {**KEEP_1, **SHARDED})
    assert left_in(tmp_path / 'killed') == files
    assert (tmp_path / 'killed/last_checkpoint').read_text() == named

    train(tmp_path / 'killed', resume=True, **KEEP_1, **SHARDED)
    assert left_in(tmp_path / 'killed') == ['epoch_3.pth', 'epoch_3.shards']
    assert len(list((tmp_path / 'killed/epoch_3.shards').iterdir())) == 1
    assert record(tmp_path / 'killed') == record(whole)


def test_a_checkpoint_written_again_keeps_its_shards_until_the_new_one_is_whole(whole, tmp_path):
    work_dir = tmp_path / 'again'
    train(work_dir, **{**KEEP_1, **SHARDED, 'default_hooks.checkpoint.max_keep_ckpts': -1})
    old = [path.name for path in (work_dir / 'epoch_2.shards').iterdir()]
    again = {'load_from': str(work_dir / 'epoch_1.pth'), 'resume': True, **KEEP_1, **SHARDED, 'default_hooks.checkpoint.max_keep_ckpts': -1}
    run_to_its_death(work_dir, ['written', 1], again)  # epoch_2.pth is the old one, with new shards beside the old ones
    assert len(list((work_dir / 'epoch_2.shards').iterdir())) == 2
    train(tmp_path / 'on', **{**again, 'load_from': str(work_dir / 'epoch_2.pth')})
    assert record(tmp_path / 'on') == {key: value for key, value in record(whole).items() if key[1] > 20}
    train(work_dir, **again)
    assert len(list((work_dir / 'epoch_2.shards').iterdir())) == 1
    assert [path.name for path in (work_dir / 'epoch_2.shards').iterdir()] != old


def test_torn_folders_are_cleared_at_the_start_and_others_left_alone(tmp_path):
    for torn in ('epoch_9.shards/1234.tmp', 'epoch_8.shards.tmp/1234'):
        (tmp_path / torn).mkdir(parents=True)
        (tmp_path / torn / 'rank_00000.safetensors').touch()
    (tmp_path / 'mine.shards/1234').mkdir(parents=True)
    train(tmp_path, **KEEP_1, **SHARDED)
    assert left_in(tmp_path) == ['epoch_3.pth', 'epoch_3.shards']
    assert (tmp_path / 'mine.shards/1234').is_dir()


def test_the_pth_file_has_nothing_of_a_row_in_it(whole):
    saved = torch.load(whole / 'epoch_3.pth')
    place = saved['meta']['shards']
    assert place['tensors'] == {'head.weight': [5, 6]}
    state = saved['optimizer']['state'][place['optimizer']['head.weight']]
    assert not [key for key, value in state.items() if isinstance(value, torch.Tensor) and value.numel() > 1]
    assert place['optimizer']['head.weight'] not in saved['optimizer'].get('grads', {})


def test_a_truncated_file_is_named_with_both_sizes(folder):
    path = folder / 'rank_00000.safetensors'
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=f'rank_00000.safetensors: {size - 1} bytes: {size} were written'):
        ShardIndex.read(folder).check_files(folder)


def test_the_pair_can_be_moved_and_renamed(whole, tmp_path):
    shutil.copy(whole / 'epoch_3.pth', tmp_path / 'final.pth')
    shutil.copytree(whole / 'epoch_3.shards', tmp_path / 'final.shards')
    more = {**KEEP_1, **SHARDED, 'resume': True, 'train_cfg.max_epochs': 4}
    train(tmp_path / 'a', load_from=str(tmp_path / 'final.pth'), **more)
    train(tmp_path / 'b', load_from=str(whole / 'epoch_3.pth'), **more)
    assert record(tmp_path / 'a') == record(tmp_path / 'b')


def test_shards_that_were_left_behind_are_named(whole, tmp_path):
    shutil.copy(whole / 'epoch_3.pth', tmp_path)
    with pytest.raises(ValueError, match=r'epoch_3.shards.*is missing.*keep it beside the .pth'):
        train(tmp_path / 'a', load_from=str(tmp_path / 'epoch_3.pth'), resume=True, **KEEP_1, **SHARDED)


@pytest.mark.parametrize('resume', [True, False])
def test_a_whole_head_is_told_how_to_get_them(resume, whole, tmp_path):
    with pytest.raises(ValueError, match=r'head.weight of the checkpoint lie in shards.*sharded=True.*head.py merge'):
        train(tmp_path, load_from=str(whole / 'epoch_3.pth'), resume=resume, **KEEP_1)


def test_the_best_checkpoint_is_the_network_alone_and_weighs_nothing_more(tmp_path):
    train(tmp_path, **SHARDED, **{'default_hooks.checkpoint.save_best': 'toy/age', 'default_hooks.checkpoint.rule': 'greater'})
    best = torch.load(tmp_path / 'best_toy_age_epoch_3.pth')
    assert 'shards' not in best['meta']
    assert 'head.weight' not in best['state_dict']
    assert not list(tmp_path.glob('best*.shards'))
    train(tmp_path / 'tuned', load_from=str(tmp_path / 'best_toy_age_epoch_3.pth'), **SHARDED, **{'train_cfg.max_epochs': 1})
    assert 'what is left of the head starts fresh: head.weight is not in the checkpoint' in log_of(tmp_path / 'tuned')


def test_a_run_that_would_lose_them_does_not_start(tmp_path):
    stock = {'default_hooks.checkpoint': dict(type='CheckpointHook', interval=1, _delete_=True)}
    with pytest.raises(ValueError, match=r'no hook saves the shards.*AtomicCheckpointHook'):
        train(tmp_path, **SHARDED, **stock)


def test_a_stock_moving_average_of_shards_is_refused(tmp_path):
    with pytest.raises(ValueError, match='use FaceEMAHook, which leaves them out'):
        train(tmp_path, **{**SHARDED, 'custom_hooks': [dict(type='EMAHook')]})
    assert not list(tmp_path.glob('*.pth'))
    assert not (tmp_path / 'record').exists()


def test_a_whole_head_is_saved_as_ever(tmp_path):
    train(tmp_path, **KEEP_1)
    saved = torch.load(tmp_path / 'epoch_3.pth')
    assert left_in(tmp_path) == ['epoch_3.pth']
    assert 'shards' not in saved['meta']
    assert 'head.weight' in saved['state_dict']


def test_a_folder_that_not_all_machines_share_is_refused(tmp_path, monkeypatch):
    exists = Path.exists
    monkeypatch.setattr(Path, 'exists', lambda path: exists(path) and path.parent != tmp_path)
    with pytest.raises(ValueError, match='not the same folder on all machines'):
        train(tmp_path, **KEEP_1, **SHARDED)


@OPTIMIZERS.register_module()
class RowNorms(torch.optim.SGD):
    """Keeps something that is neither a number nor of the parameter's shape."""

    def step(self, closure=None):
        super().step(closure)
        for p in (p for group in self.param_groups for p in group['params']):
            self.state[p]['norms'] = p.detach().flatten(1).norm(dim=1) if p.ndim > 1 else p.detach()


def test_an_optimiser_that_ties_rows_together_is_refused(tmp_path):
    optimizer = dict(type='RowNorms', lr=.1, _delete_=True)
    with pytest.raises(ValueError, match=r"RowNorms keeps 'norms' of shape \[5\] for head.weight of shape \[5, 6\]"):
        train(tmp_path, **KEEP_1, **SHARDED, **{'optim_wrapper.optimizer': optimizer})

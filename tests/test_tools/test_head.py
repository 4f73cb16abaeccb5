"""``tools/model_converters/head.py``, as a program's ``main``, on checkpoints of real toy trainings."""
import importlib.util
import re
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/test_runtime'))
from toy_training import record, train  # noqa: E402

EVERY_5 = {
    'default_hooks.checkpoint.by_epoch': False,
    'default_hooks.checkpoint.interval': 5,  # between two updates
    'default_hooks.checkpoint.max_keep_ckpts': -1,
    'custom_hooks': [dict(type='FaceEMAHook', momentum=.1), dict(type='Recorder')],
    'val_cfg': None,
    'val_dataloader': None,
    'val_evaluator': None
}
SHARDED = {**EVERY_5, 'model.head.sharded': True}
KINDS = {
    'sgd': {},
    'sampled adamw': {
        'optim_wrapper.optimizer': dict(type='AdamW', lr=.01, _delete_=True),
        'model.head.engine': dict(type='SampledEngine', ratio=.3),
        'model.head.num_classes': 40,
        'model.head.loss': dict(type='CosFaceLoss', s=16., _delete_=True),
    },
}


@pytest.fixture(scope='module')
def main():
    spec = importlib.util.spec_from_file_location('head_tool', ROOT / 'tools/model_converters/head.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda *arguments: module.main([str(argument) for argument in arguments])


@pytest.fixture(scope='module', params=KINDS)
def trained(request, tmp_path_factory):
    """The kind of training, and the work directories of the same with a sharded and with a whole head."""
    work = tmp_path_factory.mktemp('trained')
    train(work / 'sharded', **SHARDED, **KINDS[request.param])
    train(work / 'whole', **EVERY_5, **KINDS[request.param])
    return request.param, work / 'sharded', work / 'whole'


def close(run, other):
    """Asserts that the steps of ``run`` are those of ``other``."""
    steps, expected = record(run), record(other)
    assert min(i for _, i in steps) == 11
    for key, values in steps.items():
        assert [float.fromhex(v) for v in values] == pytest.approx([float.fromhex(v) for v in expected[key]], rel=1e-4), key


def test_a_merged_checkpoint_is_the_one_of_a_whole_head_which_resumes_from_it(main, trained, tmp_path, capsys):
    kind, sharded, whole = trained
    assert main('merge', sharded / 'iter_10.pth', tmp_path / 'merged.pth') == 0
    assert 'head.weight' in capsys.readouterr().out
    merged, expected = (torch.load(path) for path in (tmp_path / 'merged.pth', whole / 'iter_10.pth'))
    assert merged['state_dict'].keys() == expected['state_dict'].keys()
    torch.testing.assert_close(merged['state_dict']['head.weight'], expected['state_dict']['head.weight'], rtol=1e-4, atol=1e-6)
    for name in ('state', 'grads'):
        assert {i: value.keys() if name == 'state' else value.layout for i, value in merged['optimizer'][name].items()} == {
            i: value.keys() if name == 'state' else value.layout
            for i, value in expected['optimizer'][name].items()
        }
    assert 'shards' not in merged['meta']
    train(tmp_path / 'run', load_from=str(tmp_path / 'merged.pth'), resume=True, **EVERY_5, **KINDS[kind])
    close(tmp_path / 'run', whole)


def test_a_split_checkpoint_is_resumed_with_a_sharded_head(main, trained, tmp_path):
    kind, sharded, whole = trained
    assert main('split', whole / 'iter_10.pth', tmp_path / 'split.pth') == 0
    assert 'head.weight' not in torch.load(tmp_path / 'split.pth')['state_dict']
    train(tmp_path / 'run', load_from=str(tmp_path / 'split.pth'), resume=True, **SHARDED, **KINDS[kind])
    close(tmp_path / 'run', sharded)


def test_split_and_merged_again_it_is_the_same_to_the_last_bit(main, trained, tmp_path):
    _, _, whole = trained
    assert main('split', whole / 'iter_10.pth', tmp_path / 'a.pth') == main('merge', tmp_path / 'a.pth', tmp_path / 'b.pth') == 0
    before, after = torch.load(whole / 'iter_10.pth'), torch.load(tmp_path / 'b.pth')
    assert before['state_dict'].keys() == after['state_dict'].keys()
    assert all(torch.equal(after['state_dict'][name], value) for name, value in before['state_dict'].items())
    torch.testing.assert_close(after['optimizer'], before['optimizer'], rtol=0, atol=0)


def test_prototypes_alone_are_read_by_another_library(main, trained, tmp_path):
    _, sharded, _ = trained
    for source in ('iter_10.pth', 'iter_10.shards', next((sharded / 'iter_10.shards').iterdir())):
        assert main('merge', sharded / source, tmp_path / 'prototypes.safetensors') == 0
        assert main('merge', sharded / source, tmp_path / 'again.pth') == 0
        weight = load_file(tmp_path / 'prototypes.safetensors')['head.weight']
        assert torch.equal(torch.load(tmp_path / 'again.pth')['state_dict']['head.weight'], weight)


def test_info_says_what_is_inside_and_check_finds_a_flipped_bit(main, trained, tmp_path, capsys):
    kind, sharded, whole = trained
    assert main('info', sharded / 'iter_10.pth', '--check') == 0
    said = capsys.readouterr().out
    classes = 40 if kind == 'sampled adamw' else 5
    for text in ('written by 1 rank', 'iteration 10', f'head.weight: float32 [{classes}, 6]', 'head.weight/exp_avg' if classes == 40 else
                 'head.weight/momentum_buffer', 'gradient', ' in 1 files', 'all as written'):
        assert text in said
    assert main('info', whole / 'iter_10.pth') == 0
    assert 'is whole' in capsys.readouterr().out

    assert main('split', whole / 'iter_10.pth', tmp_path / 'a.pth') == 0
    file = next(tmp_path.glob('a.shards/*/*.safetensors'))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert main('info', tmp_path / 'a.shards') == 0
    assert main('info', tmp_path / 'a.shards', '--check') == 1
    assert f'{file} differ' in capsys.readouterr().out


def partial_fc(folder, ranks, classes, style):
    """Files as insightface's ranks leave them, and the whole."""
    folder.mkdir()
    whole, parts = torch.randn(classes, 6), []
    for rank in range(ranks):  # its own formulas
        local = classes // ranks + int(rank < classes % ranks)
        start = classes // ranks * rank + min(rank, classes % ranks)
        part = whole[start:start + local].clone()
        parts.append(part)
        if style == 'new':
            state = dict(epoch=1, global_step=5, state_dict_backbone={}, state_dict_softmax_fc=dict(weight=part), state_optimizer={})
            torch.save(state, folder / f'checkpoint_gpu_{rank}.pt')
        else:
            torch.save(part, folder / style.format(rank), _use_new_zipfile_serialization=False)
            torch.save(part, folder / f'rank_{rank}_softmax_weight_mom.pt')
    return whole


@pytest.mark.parametrize('style', ['new', 'rank_{}_softmax_weight.pt', 'rank:{}_softmax_weight.pt'])
@pytest.mark.parametrize(('ranks', 'classes'), [(1, 4), (3, 11), (12, 29)])
def test_the_ranks_of_partial_fc_are_put_together(ranks, classes, style, main, tmp_path, capsys):
    whole = partial_fc(tmp_path / 'in', ranks, classes, style)
    assert main('import', tmp_path / 'in', tmp_path / 'out.safetensors') == 0
    assert f'{classes} classes, 6 values each' in capsys.readouterr().out
    assert torch.equal(load_file(tmp_path / 'out.safetensors')['head.weight'], whole)


def test_imported_prototypes_go_into_a_checkpoint_of_their_network(main, trained, tmp_path):
    _, _, whole_run = trained
    whole = partial_fc(tmp_path / 'in', 2, 9, 'new')
    network = whole_run / 'iter_10.pth'
    assert main('import', *sorted((tmp_path / 'in').iterdir()), tmp_path / 'out.pth', '--network', network) == 0
    runner = train(
        tmp_path / 'run',
        load_from=str(tmp_path / 'out.pth'),
        **{
            **SHARDED, 'model.head.num_classes': 9,
            'optim_wrapper.optimizer.lr': 1e-30,
            'train_cfg.max_epochs': 1
        })
    assert torch.equal(runner.model.head.weight, whole)
    assert torch.equal(runner.model.neck.layers[2].weight, torch.load(network)['state_dict']['neck.layers.2.weight'])


class Surprise:

    def __reduce__(self):
        return print, ('code from a file was run', )


@pytest.mark.parametrize('change, message', [
    (lambda folder: (folder / 'checkpoint_gpu_1.pt').unlink(), r'those of ranks \[1\] are missing'),
    (lambda folder: torch.save(dict(state_dict_softmax_fc=dict(weight=torch.zeros(9, 6))), folder / 'checkpoint_gpu_1.pt'),
     r'checkpoint_gpu_0.pt: .*these are not all files of one training'),
    (lambda folder: (folder / 'checkpoint_gpu_1.pt').write_bytes(b'x' * 99), 'checkpoint_gpu_1.pt: .*damaged'),
    (lambda folder: torch.save(dict(a=Surprise()), folder / 'checkpoint_gpu_1.pt'), 'checkpoint_gpu_1.pt: .*running code'),
    (lambda folder: torch.save(dict(a=1), folder / 'checkpoint_gpu_1.pt'), 'checkpoint_gpu_1.pt: has no prototypes'),
    (lambda folder: torch.save(torch.zeros(4, 6), folder / 'rank_1_softmax_weight.pt'), 'name the files of one layout'),
    (lambda folder: [path.unlink() for path in folder.iterdir()], r'those of ranks \[0\] are missing'),
])
def test_files_that_are_not_all_of_one_training_are_named(change, message, main, tmp_path, capsys):
    partial_fc(tmp_path / 'in', 3, 11, 'new')
    change(tmp_path / 'in')
    assert main('import', tmp_path / 'in', tmp_path / 'out.safetensors') == 2
    said = capsys.readouterr()
    assert 'was run' not in said.out
    assert re.search(message, said.err), said.err
    assert not list(tmp_path.glob('*out*'))


@pytest.mark.parametrize('arguments, message', [
    (('merge', '{absent}.pth', '{tmp}/x.pth'), 'absent.pth: is no file'),
    (('merge', '{whole}/iter_10.pth', '{tmp}/x.pth'), 'has no shards'),
    (('merge', '{sharded}/iter_10.pth', '{tmp}/x.onnx'), 'must end in .pth or .safetensors'),
    (('merge', '{tmp}', '{tmp}/x.pth'), '0 folders of shards'),
    (('split', '{sharded}/iter_10.pth', '{tmp}/x.pth'), 'is sharded already'),
    (('split', '{whole}/iter_10.pth', '{whole}/iter_10.pth'), 'be another file'),
    (('info', '{tmp}/text.pth'), 'text.pth: .*damaged'),
    (('import', '{tmp}/text.pth', '{tmp}/x.pth'), 'text.pth: is named like neither'),
])
def test_bad_input_is_named_and_nothing_written(arguments, message, main, trained, tmp_path, capsys):
    _, sharded, whole = trained
    (tmp_path / 'text.pth').write_text('no checkpoint')
    places = dict(absent=tmp_path / 'absent', tmp=tmp_path, sharded=sharded, whole=whole)
    assert main(*(argument.format(**places) for argument in arguments)) == 2
    said = capsys.readouterr().err
    assert re.search(message, said), said
    assert not list(tmp_path.glob('*x.*'))


def test_bad_usage_ends_with_2_and_help_with_0(main, capsys):
    for arguments, code in (([], 2), (['melt'], 2), (['--help'], 0), (['merge', '--help'], 0)):
        with pytest.raises(SystemExit) as ended:
            main(*arguments)
        assert ended.value.code == code
    assert 'Exit codes' in capsys.readouterr().out

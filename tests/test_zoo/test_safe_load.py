"""Checkpoints are read without anything in them being executed; what torch itself reads safely is the oracle."""
import argparse
import collections
import io
import os
import pathlib
import pickle
import pickletools
import struct
import subprocess
import sys
import zipfile

import pytest
import torch
from torch import nn

from mmface.utils.data_format_error import DataFormatError
from mmface.zoo import find_weights, safe_load
from mmface.zoo.checkpoint.stand_ins import DTYPES, Inert
from mmface.zoo.checkpoint.structured_reader import PLAIN_TENSORS
from mmface.zoo.safe_load import inert_names

FORMS = [(True, 2), (True, 4), (False, 2), (False, 4)]  #: zip or as before torch 1.6, and the protocol of the pickle


def save(path, content, form=(True, 2)):
    torch.save(content, path, _use_new_zipfile_serialization=form[0], pickle_protocol=form[1])
    return path


def network():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Sequential(nn.PReLU(4)))
    net(torch.randn(2, 3, 5, 5))
    return net


def trained():
    """What Lightning or a training of one's own leaves: plain values, an optimizer's state, tensors of many kinds."""
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), .1, momentum=.9)
    net(torch.randn(2, 3, 5, 5)).sum().backward()
    optimizer.step()
    base = torch.arange(24.)
    return {
        'state_dict': net.state_dict(), 'optimizer_states': [optimizer.state_dict()], 'epoch': 3, 'big': 1 << 70, 'text': 'ä',
        'negative': -5, 'none': None, 'flags': (True, False), 'lr': 1e-3, 'size': torch.Size([3, 4]),
        'parameter': nn.Parameter(torch.ones(2)),
        'ordered': collections.OrderedDict(a=[1, [2, ()]], b={}), 'many': {str(at): {'version': at} for at in range(1500)},
        'view': base[2:20:3], 'transposed': base.view(4, 6).T, 'alias': base, 'scalar': torch.tensor(2.5), 'empty': torch.empty(0, 3),
        **{str(kind): torch.arange(5).to(kind) for kind in DTYPES.values()}
    }  # yapf: disable


def same(ours, theirs):
    if isinstance(theirs, torch.Tensor):
        return torch.equal(ours, theirs) and ours.dtype == theirs.dtype
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


@pytest.mark.parametrize('form', FORMS)
def test_it_gives_what_torch_gives_where_torch_reads_safely(tmp_path, form):
    content = trained()
    expected = torch.load(save(tmp_path / 'a.pt', content), weights_only=True)  # it reads protocol 2 alone
    assert same(safe_load(save(tmp_path / 'b.pt', content, form)), expected)


def test_safetensors_are_read(tmp_path):
    from safetensors.torch import save_file
    save_file(network().state_dict(), tmp_path / 'a.safetensors')
    assert same(dict(sorted(safe_load(tmp_path / 'a.safetensors').items())), dict(sorted(network().state_dict().items())))
    data = (tmp_path / 'a.safetensors').read_bytes()
    for damaged in (data[:50], b'', struct.pack('<Q', 1 << 60) + data[8:], data[:-8]):
        (tmp_path / 'b.safetensors').write_bytes(damaged)
        with pytest.raises(DataFormatError, match=r'b\.safetensors: truncated or no \.safetensors file'):
            safe_load(tmp_path / 'b.safetensors')


class Node:
    """As omegaconf's: it refers to what contains it."""

    def __init__(self, parent, content):
        self.parent, self.content = parent, content


class Attributes(dict):
    """As Lightning's AttributeDict."""


@pytest.mark.parametrize('form', FORMS)
def test_what_torch_refuses_is_read_with_unknown_objects_inert(tmp_path, form):
    config = Node(None, {})
    config.content['child'] = Node(config, 'ir_50')
    params = Attributes(arch='ir_50', path=pathlib.PurePosixPath('/data'), args=argparse.Namespace(lr=.1), tags={'a'})
    path = save(tmp_path / 'a.ckpt', {'hyper_parameters': params, 'config': config, 'state_dict': network().state_dict()}, form)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(save(tmp_path / 'b.ckpt', {'hyper_parameters': params}), weights_only=True)
    found = safe_load(path)
    assert same(find_weights(found, path), dict(network().state_dict()))
    hyper = found['hyper_parameters']
    assert type(hyper) is Inert and hyper.name.endswith('.Attributes')
    assert hyper.items['arch'] == 'ir_50' and hyper.items['args'].state == {'lr': .1}
    assert found['config'].state['content']['child'].state['parent'] is found['config']
    assert {name.rpartition('.')[2] for name in inert_names(found)} == {'Attributes', 'Node', 'PurePosixPath', 'Namespace'}
    assert repr(hyper).endswith('.Attributes, not executed>')


@pytest.mark.parametrize('form', FORMS)
def test_a_whole_pickled_network_gives_its_state_dict(tmp_path, form):
    net = network()
    net[1].register_buffer('passing', torch.ones(1), persistent=False)
    assert same(safe_load(save(tmp_path / 'a.pt', net, form)), dict(net.state_dict()))


class Call:
    """Pickles as a call."""

    def __init__(self, function, *args):
        self.function, self.args = function, args

    def __reduce__(self):
        return self.function, self.args


def touch(folder):
    return f'touch {folder}/pwned'


ATTACKS = {
    'os.system': lambda folder: Call(os.system, touch(folder)),
    'eval': lambda folder: Call(eval, f'open("{folder}/pwned", "w")'),
    'exec nested': lambda folder: [({'a': [Call(exec, f'open("{folder}/pwned", "w")')]}, )],
    'subprocess': lambda folder: Call(subprocess.check_call, ['touch', f'{folder}/pwned']),
    'as a key': lambda folder: {Call(os.system, touch(folder)): 1},
    'open': lambda folder: Call(open, f'{folder}/pwned', 'w'),
    'pickle in pickle': lambda folder: Call(pickle.loads, pickle.dumps(Call(os.system, touch(folder)))),
}


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('attack', ATTACKS)
def test_files_made_to_run_code_are_refused_by_name_and_nothing_runs(tmp_path, attack, form):
    path = save(tmp_path / 'a.pt', {'state_dict': network().state_dict(), 'x': ATTACKS[attack](tmp_path)}, form)
    with pytest.raises(DataFormatError, match=r'a\.pt: data.*offset \d+: names .*made to run code. Nothing was run'):
        safe_load(path)
    assert not (tmp_path / 'pwned').exists()


@pytest.mark.parametrize('form', FORMS)
def test_calls_of_anything_else_stay_inert(tmp_path, form):
    calls = [Call(getattr, 'abc', 'upper'), Call(torch.hub.load, 'a/b', 'c')]
    path = save(tmp_path / 'a.pt', {'state_dict': network().state_dict(), 'x': calls}, form)
    found = safe_load(path)
    assert [value.name for value in found['x']] == [f'{"__builtin__" if form[1] < 3 else "builtins"}.getattr', 'torch.hub.load']
    assert found['x'][0].args == ('abc', 'upper')


def bare(data: bytes, tmp_path):
    """A zip archive of torch with this pickle."""
    with zipfile.ZipFile(tmp_path / 'a.pt', 'w') as archive:
        archive.writestr('archive/data.pkl', data)
        archive.writestr('archive/data/0', struct.pack('<4f', 1, 2, 3, 4))
        archive.writestr('archive/version', b'3\n')
    return tmp_path / 'a.pt'


def text(value: str) -> bytes:
    return b'X' + struct.pack('<I', len(value)) + value.encode()


def storage(key='0', count=4, kind='FloatStorage'):
    return b'(' + text('storage') + f'ctorch\n{kind}\n'.encode() + text(key) + text('cpu') + b'J' + struct.pack('<i', count) + b'tQ'


def tensor(offset=0, size=(4, ), stride=(1, ), **ref):
    def numbers(values):
        return b'(' + b''.join(b'\x8a\x08' + struct.pack('<q', value) for value in values) + b't'
    return (b'ctorch._utils\n_rebuild_tensor_v2\n(' + storage(**ref) + b'J' + struct.pack('<i', offset) + numbers(size) + numbers(stride)
            + b'\x89ccollections\nOrderedDict\n)RtR')  # yapf: disable


def holding(value: bytes) -> bytes:
    return b'\x80\x02}' + text('w') + value + b's.'


def test_the_hand_made_files_below_are_wrong_in_one_place_only(tmp_path):
    path = bare(holding(tensor()), tmp_path)
    assert same(safe_load(path), torch.load(path, weights_only=True)) and safe_load(path)['w'].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(('pickled', 'named'), {
    'more numbers than are there': (holding(tensor(size=(5, ))), r'\[5\] with the steps \[1\] from 0 on, of 4 numbers'),
    'a huge size': (holding(tensor(size=(1 << 60, 1 << 60))), 'of 4 numbers'),
    'one number stretched': (holding(tensor(size=(1 << 40, ), stride=(0, ))), 'of 4 numbers'),
    'beyond the end': (holding(tensor(offset=1)), 'from 1 on'),
    'a negative offset': (holding(tensor(offset=-1)), 'a tensor from'),
    'a negative step': (holding(tensor(stride=(-1, ))), 'a tensor from'),
    'sizes and steps that do not pair': (holding(tensor(size=(2, 2))), r'\[2, 2\]'),
    'a storage of another length': (holding(tensor(count=3, size=(3, ))), '3 numbers of torch.float32, but 16 bytes'),
    'a storage that is missing': (holding(tensor(key='7')), r'archive/data/7: is not in the archive'),
    'a storage of a path': (holding(tensor(key='../../etc/passwd')), 'is not in the archive'),
    'an unknown storage': (holding(tensor(kind='QUInt8Storage')), 'torch.QUInt8Storage'),
    'no storage at all': (holding(b'K\x01Q'), 'a persistent id that is int'),
    'a key twice': (b'\x80\x02}(' + text('a') + b'K\x01' + text('a') + b'K\x02u.', "key 'a' for the second time"),
    'a list as a key': (b'\x80\x02}]K\x01s.', 'a key that is list'),
    'a list in itself': (b'\x80\x02}' + text('a') + b']q\x00h\x00as.', 'into itself'),
    'a module by extension': (b'\x80\x02\x82\x01.', 'EXT1'),
    'attributes put into a class': (b'\x80\x02cargparse\nNamespace\n}b.', 'opcode BUILD of global'),
    'a call of a string': (b'\x80\x02' + text('a') + b')R.', 'opcode REDUCE of str'),
    'a bomb of tuples': (b'\x80\x02}' + text('a') + b')' + b'\x85' * 5000 + b's.', 'nested deeper than 100'),
    'a huge memo index': (b'\x80\x02}r\xff\xff\xff\xff.', 'memo index'),
    'a huge text': (b'\x80\x02X\xff\xff\xff\x7f.', 'claims 2147483647 bytes'),
    'a huge number': (b'\x80\x02\x8b\x00\x10\x00\x00' + bytes(4096) + b'.', 'a number of 4096 bytes'),
    'no end': (b'\x80\x02}', 'pickle truncated'),
    'nothing': (b'', 'pickle truncated'),
    'a tail': (b'\x80\x02}.}.', 'after STOP'),
}.values(), ids=str)
def test_damaged_and_hostile_pickles_are_refused_with_the_place(tmp_path, pickled, named):
    with pytest.raises(DataFormatError, match=named) as error:
        safe_load(bare(pickled, tmp_path))
    assert str(tmp_path / 'a.pt') in str(error.value)


def test_references_to_references_take_no_memory(tmp_path):
    """Forty lists, each of twice the one before: 2^40 numbers for who writes them out."""
    laughs = b''.join(b']q' + bytes([at + 1]) + b'(h' + bytes([at]) + b'h' + bytes([at]) + b'e' for at in range(40))
    with pytest.raises(DataFormatError, match='BINGET'):
        safe_load(bare(b'\x80\x02]q\x00' + laughs + b'.', tmp_path))
    tuples = b''.join(b'h' + bytes([at]) + b'h' + bytes([at]) + b'\x86q' + bytes([at + 1]) + b'0' for at in range(40))
    found = safe_load(bare(b'\x80\x02K\x01\x85q\x000' + tuples + b'}' + text('a') + b'h\x28s.', tmp_path))
    assert found['a'][0] is found['a'][1]


@pytest.mark.parametrize('form', FORMS)
def test_a_file_cut_anywhere_is_refused(tmp_path, form):
    data = save(tmp_path / 'a.pt', {'state_dict': network().state_dict()}, form).read_bytes()
    for stop in range(0, len(data), max(1, len(data) // 60)):
        (tmp_path / 'cut.pt').write_bytes(data[:stop])
        with pytest.raises(DataFormatError, match=r'cut\.pt: '):
            safe_load(tmp_path / 'cut.pt')


def test_an_old_file_whose_storage_is_not_as_long_as_its_pickle_says_is_refused(tmp_path):
    path = save(tmp_path / 'a.pt', {'w': torch.arange(6.)}, (False, 2))
    data, numbers = path.read_bytes(), torch.arange(6.).numpy().tobytes()
    assert data.endswith(struct.pack('<q', 6) + numbers)
    for count in (5, 7, -1, 1 << 60):
        path.write_bytes(data.removesuffix(struct.pack('<q', 6) + numbers) + struct.pack('<q', count) + numbers)
        with pytest.raises(DataFormatError, match=f'offset .* storage .* of {count} numbers; the pickle says 6'):
            safe_load(path)


def test_every_changed_byte_of_an_archive_is_refused_or_changes_nothing(tmp_path):
    path = save(tmp_path / 'a.pt', {'w': torch.arange(6.)})
    data = path.read_bytes()
    (tmp_path / 'b.pt').write_bytes(data)
    refused = 0
    for at in range(0, len(data), 7):
        (tmp_path / 'b.pt').write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1:])
        try:
            assert same(safe_load(tmp_path / 'b.pt'), {'w': torch.arange(6.)})
        except DataFormatError:
            refused += 1
    assert refused > 20


def archive_of(path, members, **options):
    with zipfile.ZipFile(path, 'w', **options) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


@pytest.mark.filterwarnings('ignore:Duplicate name')
def test_archives_that_torch_does_not_write_are_refused(tmp_path):
    plain = [('archive/data.pkl', b'\x80\x02}.')]
    for members, options, named in [
        (plain * 2, {}, 'two members of one name'),
        (plain, dict(compression=zipfile.ZIP_DEFLATED), 'packs nothing'),
        ([('archive/data.pkl', bytes(10 << 20))], dict(compression=zipfile.ZIP_DEFLATED), 'bytes packed into'),
        ([*plain, ('other/data.pkl', b'')], {}, '2 members called data.pkl'),
        ([('model.onnx', b'')], {}, '0 members called data.pkl'),
        ([*plain, ('archive/constants.pkl', b'')], {}, 'TorchScript archive, which is a program'),
        ([*plain, ('archive/byteorder', b'big')], {}, 'big-endian'),
    ]:
        with pytest.raises(DataFormatError, match=named):
            safe_load(archive_of(tmp_path / 'a.pt', members, **options))


def test_an_archive_that_claims_more_than_it_holds_is_refused_before_memory_is_taken(tmp_path):
    with zipfile.ZipFile(tmp_path / 'a.pt', 'w') as archive:
        archive.writestr('archive/data.pkl', b'\x80\x02}.')
        archive.writestr('archive/data/0', b'1234')
        archive.filelist[1].file_size = archive.filelist[1].compress_size = 1 << 40
    with pytest.raises(DataFormatError, match='holds more bytes than it is long'):
        safe_load(tmp_path / 'a.pt')


@pytest.mark.parametrize(('content', 'named'), [
    (b'', 'is empty'),
    (b'<!DOCTYPE html><html>', 'a page of HTML'),
    (b'version https://git-lfs.github.com/spec/v1\noid sha256:1\n', 'git lfs pull'),
    (b'\x93NUMPY\x01\x00', 'a NumPy array'),
    (b'hello', 'neither a zip archive nor a pickle'),
    (pickle.dumps({'a': 1}), 'a bare pickle'),
])
def test_other_kinds_of_files_are_called_by_their_name(tmp_path, content, named):
    (tmp_path / 'a.pth').write_bytes(content)
    with pytest.raises(DataFormatError, match=named):
        safe_load(tmp_path / 'a.pth')


def test_the_oldest_form_and_wrong_types_come_with_the_command_that_converts_in_isolation(tmp_path):
    import tarfile
    with tarfile.open(tmp_path / 'old.pth', 'w', format=tarfile.USTAR_FORMAT) as archive:
        for name in ('pickle', 'storages', 'tensors'):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    save(tmp_path / 'list.pth', [1, 2])
    save(tmp_path / 'arrays.pth', {'w': torch.ones(2).numpy()})
    for name in ('old.pth', 'list.pth', 'arrays.pth'):
        with pytest.raises(DataFormatError, match=rf'docker run --rm --network none -v "{tmp_path}/{name}:/in.pt:ro"'):
            find_weights(safe_load(tmp_path / name), tmp_path / name)
    with pytest.raises(DataFormatError, match=r"holds the keys \['epoch'\], none of which is a state dict"):
        find_weights(safe_load(save(tmp_path / 'a.pt', {'epoch': 1})), 'a.pt')
    with pytest.raises(FileNotFoundError):
        safe_load(tmp_path / 'absent.pt')


def test_the_command_that_converts_in_isolation_does(tmp_path):
    (tmp_path / 'plain').mkdir()
    source = save(tmp_path / 'in.pt', {'state_dict': {'w': torch.ones(2).numpy()}})
    exec(PLAIN_TENSORS.replace('/in.pt', str(source)).replace('/plain', str(tmp_path / 'plain')), {})
    assert same(safe_load(tmp_path / 'plain/tensors.pt'), {'w': torch.ones(2)})


def test_nothing_is_imported_that_a_file_names(tmp_path):
    path = bare(b'\x80\x02}' + text('a') + b'cantigravity\nfly\n)Rs.', tmp_path)
    assert safe_load(path)['a'].name == 'antigravity.fly' and 'antigravity' not in sys.modules
    assert 'antigravity fly' in {argument for _, argument, _ in pickletools.genops(b'\x80\x02cantigravity\nfly\n)R.')}

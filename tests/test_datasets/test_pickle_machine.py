"""The pickle machine: every opcode and name beyond the short list is refused while parsing, within bounds of memory and time."""
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from mmface.datasets import DataFormatError
from mmface.datasets.formats.pickles.opcodes import _NAMES, OPCODES
from mmface.utils.pickles.machine import PickleMachine
from mmface.utils.pickles.values import Span

PATH = Path('some.bin')
PACK = b'](\x88eq\x01](\x88eq\x02\x86.'  # what the names below are called beside


def run(data: bytes):
    return PickleMachine(data, OPCODES, PATH).run()


def text(value: str) -> bytes:
    return b'X' + struct.pack('<I', len(value)) + value.encode()


def call(name: str, argument: str, opcode: str = 'R') -> bytes:
    """A pickle of protocol 2 that calls a function with one string, and then goes on like a pack."""
    module, _, attribute = name.rpartition('.')
    function = f'c{module}\n{attribute}\n'.encode()
    calls = {
        'R': function + text(argument) + b'\x85R',
        'o': b'(' + function + text(argument) + b'o',
        'b': function + b')R}U\x01a' + text(argument) + b'sb',
    }
    return b'\x80\x02' + calls[opcode] + b'0' + PACK


DTYPE = b'cnumpy\ndtype\n%s\x85R'
RECONSTRUCT = b'\x80\x02cnumpy.core.multiarray\n_reconstruct\n'
MALICIOUS = {  # what the file does -> the pickle, and what must be named
    'os.system': (call('os.system', 'touch mmface_pwned_a'), 'os.system'),
    'posix.system': (call('posix.system', 'touch mmface_pwned_b'), 'posix.system'),
    'OBJ': (call('os.system', 'touch mmface_pwned_c', 'o'), 'os.system'),
    'OBJ of a known name': (b'\x80\x02(cnumpy\ndtype\nX\x02\0\0\0u1o.', 'OBJ'),
    'NEWOBJ of a known name': (b'\x80\x02cnumpy\nndarray\n)\x81.', 'NEWOBJ'),
    'BUILD on a namespace': (call('types.SimpleNamespace', 'touch mmface_pwned_d', 'b'), 'types.SimpleNamespace'),
    'MXNet array': (b'\x80\x02cmxnet.ndarray.ndarray\nNDArray\n)\x81}X\x06\0\0\0handlec__builtin__\nbytearray\nC\x01a\x85Rsb.',
                    'mxnet.ndarray.ndarray.NDArray'),
    'list in itself': (b'\x80\x02]q\0h\0a]\x86.', 'BINGET puts list into itself'),
    'list in itself through a tuple': (b'\x80\x02]q\0\x85q\x01h\0h\x01a.', 'APPEND on list'),
    'array in itself': (RECONSTRUCT + b'cnumpy\nndarray\nK\0\x85C\x01b\x87Rq\0(K\x01K\x01\x85' + DTYPE % text('O8') + b'\x89](h\0etb.',
                        'BINGET puts array into itself'),
    'eval by INST': (b"(S'touch mmface_pwned_e'\nios\nsystem\n.", 'INST'),
    'numpy.dtype of a callable': (DTYPE % b'cnumpy\nndarray\n' + b'.', 'REDUCE on global'),
    'numpy.dtype of fields': (DTYPE % text('u1,u1') + b'.', "numpy.dtype 'u1,u1'"),
    'reconstruct of something else': (RECONSTRUCT + b'cnumpy\ndtype\nK\0\x85C\x01b\x87R.', '_reconstruct of global'),
    'scalar of an object': (b'\x80\x02cnumpy.core.multiarray\nscalar\n' + DTYPE % text('O8') + b'C\x01a\x86R.', 'numpy scalar of dtype'),
    'encode to another codec': (b'\x80\x02c_codecs\nencode\n' + text('a') + text('zlib') + b'\x86R.', '_codecs.encode'),
    'bytes of an integer': (b'\x80\x02cbuiltins\nbytes\nJ\xff\xff\xff\x7f\x85R.', 'bytes or bytearray of int'),
    'bytes of text': (b'\x80\x02cbuiltins\nbytes\n' + text('a') + b'\x85R.', 'bytes or bytearray of str'),
    'memo index by text': (b']p2147483647\n.', 'PUT with the memo index 2147483647'),
    'negative length': (b'T\xff\xff\xff\xff.', 'BINSTRING claims -1 bytes'),
    'a terabyte': (b'\x80\x04\x8e' + struct.pack('<Q', 1 << 40) + b'.', 'BINBYTES8 claims 1099511627776 bytes'),
    'out-of-band buffer': (b'\x80\x05\x97.', 'NEXT_BUFFER'),
    'dict': (b'\x80\x02}.', 'EMPTY_DICT'),
    'float': (b'G' + b'\0' * 8 + b'.', 'BINFLOAT'),
    'protocol 6': (b'\x80\x06N.', 'protocol above 5'),
    '5,000 lists': (b']' * 5000 + b'a' * 4999 + b'.', 'EMPTY_LIST nests deeper'),
    '5,000 marks': (b'(' * 5000 + b't' * 5000 + b'.', 'MARK nests deeper'),
    'a dotted name': (b'\x80\x04\x8c\x05numpy\x8c\x11ndarray.__class__\x93.', 'numpy.ndarray.__class__'),
}


@pytest.mark.parametrize('name', MALICIOUS)
def test_what_a_pickle_could_do_is_refused_by_name(name):
    data, fact = MALICIOUS[name]
    with pytest.raises(DataFormatError, match=r'some\.bin: offset ') as raised:
        run(data)
    assert fact in str(raised.value)


def test_nothing_was_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for data, _ in MALICIOUS.values():
        with pytest.raises(DataFormatError):
            run(data)
    assert list(tmp_path.iterdir()) == []


def test_the_tables_are_as_short_as_they_can_be():
    assert (len(OPCODES), len(_NAMES)) == (42, 13)


@pytest.mark.parametrize('protocol', range(6))
def test_plain_data_are_what_pickle_makes_of_them(protocol):
    value = ([True, False, None, 0, 255, 65535, -1, 2**31 - 1, -2**31, (), (1, ), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [[1], [2]]], 7)
    assert run(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize('protocol', range(1, 6))  # Python 3 writes text in protocol 0 by an opcode that no pack has
def test_bytes_stay_in_the_file(protocol):
    data = bytes(range(256)) * 3
    span = run(pickle.dumps(data, protocol))
    assert type(span) is Span
    assert span.kind == ('bytes' if protocol > 2 else 'latin1')


@pytest.mark.parametrize('cut', range(1, 40))
def test_a_pickle_that_is_cut_anywhere_is_refused(cut):
    data = pickle.dumps(([b'abc', bytearray(b'def')], [True]), 4)
    with pytest.raises(DataFormatError):
        run(data[:-cut])


LONG_TEXT = text('a' * (1 << 23))
SHAPE = b'J\0\0\x80\0\x85'
ENCODED = b'c_codecs\nencode\n%s' + text('latin1') + b'\x86R'
BUILT = DTYPE % text('u1') + b'(K\x03' + text('|') + b'tb'
ARRAY = b'cnumpy.core.numeric\n_frombuffer\n(%s%s%s' + text('C') + b'tR'
BOMBS = {  # a small pickle that would take gigabytes or hours -> what it is refused for
    'lists': (b'](' + b']' * 1_000_000, 'nests deeper'),
    'strings': (b'(' + b'U\0' * 1_000_000 + b't.', 'honest data have fewer'),
    'memo': (b'(N' + b'\x94' * 1_000_000 + b'.', 'honest data have fewer'),
    'digits': (b'(I' + b'9' * 1_000_000 + b'\n.', 'without an end of line'),
    'one text, encoded again and again':
        (b'(' + text('a' * (1 << 20)) + b'q\0' + ENCODED % b'h\0' * 80_000 + b't.', 'honest data have fewer'),
    'one shape, checked again and again':
        (b'((' + b'K\1' * 99_999 + b'tq\0' + BUILT + b'q\1' + ARRAY % (b'C\1a', b'h\1', b'h\0') * 9_999 + b't.', 'numpy array from tuple'),
    'one text, decoded again and again for its length':
        (b'](' + ARRAY % (ENCODED % LONG_TEXT + b'q\0', BUILT + b'q\1', SHAPE) + ARRAY % (b'h\0', b'h\1', SHAPE) * 9_999 +
         b'e](\x88\x88e\x86.',
         '10000 images for 2 flags'),
    'two of two of two': (b'(Nq\0' + b''.join(b'h%ch%c\x86q%c' % (at, at, at + 1) for at in range(99)) + b't.', 'expected 2 items'),
}
PROGRAM = """
import resource, sys, time
from pathlib import Path
from mmface.datasets import DataFormatError
from mmface.datasets.formats import PairPack
for path in map(Path, sys.argv[1:]):
    size = int(Path('/proc', 'self', 'statm').read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (200 << 20), resource.RLIM_INFINITY))
    start = time.process_time()
    try:
        PairPack(path)
    except DataFormatError as error:
        print(time.process_time() - start < 30, error)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='needs resource limits and /proc')
def test_bombs_are_refused_within_200_mib(tmp_path):
    paths = [tmp_path / f'{at}.bin' for at in range(len(BOMBS))]
    for path, (data, _) in zip(paths, BOMBS.values(), strict=True):
        path.write_bytes(data)
    done = subprocess.run([sys.executable, '-c', PROGRAM, *map(str, paths)], capture_output=True, text=True, check=False)
    told = done.stdout.splitlines()
    assert len(told) == len(BOMBS), done.stderr[-2000:]
    for line, (_, fact) in zip(told, BOMBS.values(), strict=True):
        assert line.startswith('True') and fact in line

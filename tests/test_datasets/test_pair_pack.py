"""``.bin`` packs: all dialects, all kinds of damage, and our own writer."""
import contextlib
import hashlib
import json
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest

from mmface.datasets import DataFormatError, EvalDataset, open_eval
from mmface.datasets.decode import decode_image
from mmface.datasets.formats import EVALS
from mmface.datasets.formats.pair_pack.writer import write_pair_pack
from mmface.evaluation import TenFoldVerification

DIALECTS = [
    'issame_array_p4_np1', 'issame_array_p4_np2', 'issame_int', 'list_not_tuple', 'ndarray_col_p4_np1', 'ndarray_col_p4_np2',
    'ndarray_p2_np1', 'ndarray_p2_np2', 'ndarray_p4_np1', 'ndarray_p4_np2', 'ndarray_p5_np1', 'ndarray_p5_np2', 'npbool_p4_np1',
    'npbool_p4_np2', 'object_array_p4_np1', 'object_array_p4_np2', 'py2_p0', 'py2_p2', 'py3_p2', 'py3_p3', 'py3_p4', 'py3_p4_bytearray',
    'py3_p5', 'py3_p5_bytearray'
]
MALICIOUS = [
    'builtins_eval', 'codecs_decode', 'deep_nesting', 'dotted_attribute', 'ext_opcode', 'huge_alloc', 'huge_tuple_alloc', 'inst_opcode',
    'memo_bomb', 'numpy_load_trick', 'numpy_lookalike', 'numpy_testing_exec', 'persid', 'stack_global'
]
DAMAGED = {  # a pack of the fixtures -> the facts that must be named
    'flag_string': ['flag 0', 'is str'],
    'ndarray_2d_pixels': ['image 0 (pair 0)', '4x6', 'pixels, not an encoded image'],
    'ndarray_float64': ['image 0 (pair 0)', 'array of float64', 'not uint8'],
    'ndarray_shape_lie': ['image 0 (pair 0)', 'shape and data length differ', '1043', '1044 bytes'],
    'no_stop': ['pickle truncated'],
    'none_image': ['image 1 (pair 0)', 'is None'],
    'not_a_pickle': ['not a verification pack'],
    'three_items': ['expected 2 items, got 3'],
    'too_few_flags': ['4 images for 1 flag'],
    'trailing_garbage': ['7 bytes after STOP'],
    'zero_byte_image': ['image 1 (pair 0)', 'empty'],
    'zero_byte_image_p2': ['image 1 (pair 0)', 'empty'],
}


@pytest.fixture(scope='module')
def bins(shared):
    return shared / 'reference/fixtures/bin'


@pytest.fixture(scope='module')
def expected(bins):
    return json.loads((bins / 'expected.json').read_text())


@pytest.fixture
def packed(tmp_path):
    """``packed(content, protocol=4)``: a pack as Python's own pickle writes it, or the bytes themselves."""

    def make(content, protocol: int = 4):
        path = tmp_path / 'pack.bin'
        path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol))
        return path

    return make


def digests(reader) -> list[str]:
    return [hashlib.sha256(reader.read(at)).hexdigest() for at in range(len(reader))]


@pytest.mark.parametrize('name', DIALECTS)
def test_every_dialect_holds_the_same(bins, expected, name):
    reader, want = EVALS.open(bins / f'dialects/{name}.bin'), expected['dialects'][name]
    assert digests(reader) == want['payload_sha256']
    assert reader.set.same.tolist() == want['issame']
    assert reader.set.pairs.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize('name', DIALECTS)
def test_changed_bytes_give_a_pack_or_an_error_that_says_so(bins, tmp_path, name):
    data, rng = (bins / f'dialects/{name}.bin').read_bytes(), np.random.default_rng(0)
    for _ in range(40):
        changed = bytearray(data)
        for at in rng.choice([*range(300), *range(-200, 0)], 2):
            changed[at] = rng.choice([*b'()]taeuRbqhrj.NIUXBCK', rng.integers(256)])
        (tmp_path / 'changed.bin').write_bytes(changed)
        with contextlib.suppress(DataFormatError):
            reader = EVALS.open(tmp_path / 'changed.bin')
            assert all(len(reader.read(at)) for at in range(len(reader)))


@pytest.mark.parametrize('name', MALICIOUS)
def test_malice_is_refused_while_parsing_and_nothing_is_run(bins, name):
    with pytest.raises(DataFormatError, match=rf'{name}\.bin: offset [0-9]+: .*(opcode [A-Z]|bytes or bytearray of int)'):
        open_eval(bins / f'malicious/{name}.bin')
    assert list(Path(tempfile.gettempdir()).glob('mmface_pwned_*')) == []


@pytest.mark.parametrize('name', DAMAGED)
def test_damage_is_named_when_the_pack_is_opened(bins, name):
    with pytest.raises(DataFormatError) as raised:
        open_eval(bins / f'damaged/{name}.bin')
    for fact in [f'{name}.bin', *DAMAGED[name]]:
        assert fact in str(raised.value)


def test_a_broken_picture_is_named_when_it_is_decoded(bins):
    dataset = EvalDataset(bins / 'damaged/broken_jpeg.bin', pipeline=[dict(type='DecodeFace')])
    assert dataset[0]['img'].shape == (112, 112, 3)
    with pytest.raises(DataFormatError, match=r'broken_jpeg\.bin: image 1 \(pair 0\): .*cannot be decoded'):
        dataset[1]


@pytest.mark.parametrize('content, fact', [
    (b'', 'pack.bin: empty'),
    (b'version https://git-lfs.github.com/spec/v1\n', 'a Git LFS pointer'),
    (([b'a', b'b'], ), 'expected 2 items, got 1'),
    (b'\x80\x04C\x01a.', 'not a verification pack but bytes'),
    (([b'a'] * 3, [True]), '3 images for 1 flag'),
    (([b'a'] * 2, [True, False]), '2 images for 2 flags'),
    (([], []), 'no pairs'),
    (([b'a', 'b'], [True]), 'image 1 (pair 0): is str'),
    (([b'a'] * 5 + [[b'a']], [True] * 3), 'image 5 (pair 2): is list'),
    (([b'a', bytearray()], [True]), 'image 1 (pair 0): empty'),
    (([b'a', np.zeros(0, np.uint8)], [True]), 'image 1 (pair 0): empty'),
    (([b'a', np.ones((2, 2), np.uint8)], [True]), 'image 1 (pair 0): is an array of uint8, 2x2: pixels'),
    (([b'a'] * 2, [2]), 'flag 0: is 2'),
    (([b'a'] * 2, [None]), 'flag 0: is None'),
    (([b'a'] * 2, np.array([2])), 'flag 0: is 2'),
    (([b'a'] * 2, np.array([0.5])), 'flags are an array of float64, 1'),
    (([b'a'] * 2, np.ones((1, 1, 1), bool)), 'flags are an array of bool, 1x1x1'),
    ((b'ab', [True]), 'images are bytes'),
    (([b'a'] * 2, True), 'flags are bool'),
])
def test_what_is_no_pack_is_refused_with_image_and_pair(packed, content, fact):
    with pytest.raises(DataFormatError) as raised:
        open_eval(packed(content), 'bin')
    assert fact in str(raised.value)


def test_text_that_is_no_image_is_named_when_it_is_read(packed):
    reader = EVALS.open(packed(b'\x80\x02](c_codecs\nencode\nX\x02\0\0\0\xc4\x80X\x06\0\0\0latin1\x86RC\x01ae](\x88e\x86.'))
    with pytest.raises(DataFormatError, match=r'image 0 \(pair 0\): broken text'):
        reader.read(0)
    assert bytes(reader.read(1)) == b'a'


def test_a_pack_of_genuine_pairs_only_is_read(packed):
    assert open_eval(packed(([b'a', b'b'] * 3, [True] * 3))).same.all()


@pytest.mark.parametrize('dtype', [bool, np.uint8, np.int64, '>i4'])
def test_flags_may_be_an_array(packed, dtype):
    assert open_eval(packed(([b'a'] * 6, np.array([1, 0, 1], dtype)))).same.tolist() == [True, False, True]


@pytest.mark.parametrize('pairs', [1, 9, 10, 23, 40])
def test_folds_are_those_of_kfold(packed, pairs):
    from sklearn.model_selection import KFold
    fold = open_eval(packed(([b'a'] * 2 * pairs, [True] * pairs))).fold
    if pairs < 10:
        assert fold.tolist() == list(range(pairs))
        return
    assert [np.flatnonzero(fold == at).tolist() for at in range(10)] == [test.tolist() for _, test in KFold(10).split(range(pairs))]


def toy_embed(image: np.ndarray) -> np.ndarray:
    """The stand-in network of the fixtures, for 112 x 112 pixels."""
    pixels = image.astype(np.float64) / 127.5 - 1
    return (pixels.reshape(7, 16, 7, 16, 3).mean((1, 3)) * (1.0, 0.5, 0.1)).transpose(2, 0, 1).ravel()


@pytest.mark.parametrize('kind, order, flip', [
    ('plain', 1, None),
    ('flip_sum', 1, 'add'),
    ('bgr_flip_sum', -1, 'add'),
    ('normalised_then_flip_sum', 1, 'add_unit'),
])
@pytest.mark.parametrize('rule', ['grid', 'exact'])
def test_mini_lfw_gives_the_expected_accuracy_from_end_to_end(bins, expected, kind, order, flip, rule):
    reader, want = EVALS.open(bins / 'mini_lfw.bin'), expected['mini_lfw']
    assert digests(reader) == want['payload_sha256']
    images = [decode_image(reader.read(at))[..., ::order] for at in range(len(reader))]
    if order == 1:
        np.testing.assert_allclose(toy_embed(images[0])[:6], want['toy_first_row'], atol=1.5 / 127.5)
    embeddings = [np.stack([toy_embed(image[:, ::step]) for image in images]).astype(np.float32) for step in (1, -1)[:1 + bool(flip)]]
    result, results = TenFoldVerification(rule=rule, flip=flip)(reader.set, *embeddings), want['results'][kind][rule]
    assert result['fold_accuracy'] == pytest.approx(results['fold_accuracy'], abs=1e-12)
    assert result['accuracy'] == pytest.approx(results['mean'], abs=1e-12)


def test_images_stay_in_the_file_and_survive_the_way_into_a_worker(bins, expected):
    reader = EVALS.open(bins / 'dialects/py3_p4.bin')
    assert isinstance(reader.read(0), memoryview)
    there = pickle.loads(pickle.dumps(reader))
    assert digests(there) == expected['dialects']['py3_p4']['payload_sha256']
    assert (there.where(3), there.set.paths[3]) == ('image 3 (pair 1)', f'{bins}/dialects/py3_p4.bin#3')


@pytest.mark.parametrize('options', [{}, {'encoding': 'bytes'}], ids=['as insightface loads', 'as AdaFace loads'])
def test_our_packs_are_read_by_pickle_and_by_us(tmp_path, options):
    pairs = [(b'a', b'b' * 300, True), (b'c' * 70000, b'd', np.False_)]
    assert write_pair_pack(tmp_path / 'ours.bin', iter(pairs)) == 2
    images, same = pickle.loads((tmp_path / 'ours.bin').read_bytes(), **options)
    assert images == [b'a', b'b' * 300, b'c' * 70000, b'd']
    assert (same, [type(flag) for flag in same]) == ([True, False], [bool, bool])
    reader = EVALS.open(tmp_path / 'ours.bin')
    assert [bytes(reader.read(at)) for at in range(4)] == images
    assert reader.set.same.tolist() == same


@pytest.mark.parametrize('pairs', [[], [(b'a', b'', True)], [(b'a', b'b', True), None]])
def test_a_pack_that_cannot_be_finished_leaves_nothing_behind(tmp_path, pairs):
    (tmp_path / 'ours.bin').write_bytes(b'before')
    with pytest.raises((ValueError, TypeError)):
        write_pair_pack(tmp_path / 'ours.bin', pairs)
    assert [path.name for path in tmp_path.iterdir()] == ['ours.bin']
    assert (tmp_path / 'ours.bin').read_bytes() == b'before'

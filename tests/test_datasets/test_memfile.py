"""AdaFace's memory files: the exact pixels, the right pairs, and nothing believed that the files contradict."""
import hashlib
import json
import pickle

import numpy as np
import pytest

from mmface.datasets import DataFormatError, EvalDataset, open_eval
from mmface.datasets.formats import EVALS

FIVE = {'agedb_30': 2, 'cfp_fp': 1, 'lfw': 3, 'cplfw': 2, 'calfw': 1}  # in the order of AdaFace's FiveValidationDataset -> pairs


def normalised(pixels: np.ndarray, dtype: str = 'float32') -> np.ndarray:
    """RGB uint8 [N, H, W, 3] as AdaFace stores it: BGR, channels first, ((x / 255) - .5) / .5 as torchvision computes it."""
    return ((pixels[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255) - np.float32(.5)) / np.float32(.5)).astype(dtype)


@pytest.fixture
def write(tmp_path):
    """``write(file, pixels, flags)``: ``<set>/memfile/mem_file.dat`` or another file, its ``.conf``, and the list of a set."""

    def make(file: str, pixels: np.ndarray, flags: dict, dtype: str = 'float32', conf: dict | None = None):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        normalised(pixels, dtype).tofile(path)
        path.with_name(path.name + '.conf').write_text(json.dumps(conf or dict(shape=[len(pixels), 3, *pixels.shape[1:3]], dtype=dtype)))
        for name, values in flags.items():
            np.save(tmp_path / f'{name}_list.npy', values)
        return path

    return make


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 256, (8, 5, 4, 3), np.uint8)


def test_the_fixture_is_read_as_it_was_written(shared):
    folder = shared / 'reference/fixtures/folder'
    expected = json.loads((folder / 'expected.json').read_text())['memfile']
    reader = EVALS.open(folder / 'adaface_memfile/lfw')
    assert (reader.set.name, reader.set.same.tolist()) == ('lfw', expected['issame'])
    images = np.stack([reader.read(at) for at in range(len(reader))])
    again = normalised(images)
    assert list(again.shape) == expected['shape']
    assert hashlib.sha256(again.tobytes()).hexdigest() == expected['sha256'], 'the pixels, normalised again, are the bytes of the file'
    np.testing.assert_allclose(again.mean((0, 2, 3), np.float64), expected['mean_bgr'], atol=1e-6)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_every_level_comes_back_exactly_in_every_type_of_float(write, dtype):
    levels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1)
    images = np.concatenate([levels, levels[:, ::-1], levels[:, :, ::-1]], 3)
    reader = EVALS.open(write('lfw/memfile/mem_file.dat', np.repeat(images, 2, 0), {'lfw': [True]}, dtype))
    np.testing.assert_array_equal(reader.read(0), images[0])
    assert reader.read(0).dtype == np.uint8 and reader.read(0).flags.c_contiguous


def test_pairs_are_neighbours_and_folds_contiguous_tenths(write):
    flags = np.arange(23) % 3 == 0
    pairs = open_eval(write('lfw/memfile/mem_file.dat', np.zeros((46, 2, 2, 3), np.uint8), {'lfw': flags}))
    assert pairs.pairs.tolist() == [[2 * at, 2 * at + 1] for at in range(23)]
    assert pairs.same.tolist() == flags.tolist()
    for fold, rows in enumerate(np.array_split(np.arange(23), 10)):
        assert np.flatnonzero(pairs.fold == fold).tolist() == rows.tolist()


@pytest.mark.parametrize('name', FIVE)
def test_of_the_file_with_five_sets_one_is_chosen(write, name):
    flags = {each: np.arange(pairs) % 2 == len(each) % 2 for each, pairs in FIVE.items()}
    pixels = np.random.default_rng(1).integers(0, 256, (2 * sum(FIVE.values()), 3, 3, 3), np.uint8)
    path = write('concat_validation_memfile', pixels, flags)
    reader = EVALS.open(path, name=name)
    before = 2 * sum(list(FIVE.values())[:list(FIVE).index(name)])
    assert reader.set.same.tolist() == flags[name].tolist()
    for at in range(len(reader)):
        np.testing.assert_array_equal(reader.read(at), pixels[before + at])
    with pytest.raises(DataFormatError, match='five sets in one file, name=None: choose with name= one of agedb_30, cfp_fp, lfw, cplfw'):
        EVALS.open(path)
    np.save(path.with_name('calfw_list.npy'), [True, False])
    with pytest.raises(DataFormatError, match='18 images, 10 flags'):
        EVALS.open(path, name=name)


@pytest.mark.parametrize('name, facts', [
    ('bad_dtype', ['mem_file.dat.conf', 'dtype object']),
    ('broken_conf', ['mem_file.dat.conf', 'JSON error']),
    ('no_conf', ['mem_file.dat.conf', 'no such file']),
    ('shape_too_big', ['mem_file.dat', 'needs 1536 bytes, file has 768']),
])
def test_damage_is_refused_with_the_facts(shared, name, facts):
    with pytest.raises(DataFormatError) as raised:
        open_eval(shared / f'reference/fixtures/adversarial/memfile/{name}')
    assert [fact for fact in facts if fact not in str(raised.value)] == []


@pytest.mark.parametrize('conf, fact', [
    (dict(shape=[7, 3, 5, 4], dtype='float32'), 'needs 1680 bytes, file has 1920'),
    (dict(shape=[8, 3, 5, 4], dtype='uint8'), 'dtype uint8: expected float16'),
    (dict(shape=[8, 1, 5, 12], dtype='float32'), r'shape \[8, 1, 5, 12\]'),
    (dict(shape=[-8, 3, -5, 4], dtype='float32'), r'shape \[-8, 3, -5, 4\]'),
    (dict(shape=[8., 3, 5, 4], dtype='float32'), r'shape \[8.0, 3, 5, 4\]'),
    (dict(dtype='float32'), 'shape None'),
    ([8, 3, 5, 4], 'dtype None'),
    (dict(shape=[1 << 62, 3, 1 << 62, 1 << 62], dtype='float32'), 'needs .* bytes, file has 1920'),
])
def test_a_conf_that_does_not_fit_is_refused(write, pixels, conf, fact):
    with pytest.raises(DataFormatError, match=fact):
        open_eval(write('lfw/memfile/mem_file.dat', pixels, {'lfw': [True] * 4}, conf=conf))


@pytest.mark.parametrize('flags, fact', [
    ([True] * 3, '8 images, 3 flags: expected two images a flag'),
    ([0, 1, 2, 1], r'array \[4\] of int64: expected one True or False a pair'),
    ([[True] * 4], r'array \[1, 4\] of bool'),
    ([.5] * 4, 'array .* of float64'),
    (np.array([True, None, True, False], object), 'truncated or no array of flags'),
])
def test_flags_that_do_not_fit_are_refused(write, pixels, flags, fact):
    with pytest.raises(DataFormatError, match=fact):
        open_eval(write('lfw/memfile/mem_file.dat', pixels, {'lfw': flags}))


def test_a_list_that_is_missing_or_cut_short_is_refused(write, pixels):
    path = write('lfw/memfile/mem_file.dat', pixels, {'lfw': [True] * 4})
    flags = path.parents[2] / 'lfw_list.npy'
    flags.write_bytes(flags.read_bytes()[:-1])
    with pytest.raises(DataFormatError, match=r'lfw_list\.npy: truncated'):
        open_eval(path)
    flags.rename(flags.with_name('other.npy'))
    with pytest.raises(DataFormatError, match=r'lfw_list\.npy: no such file'):
        open_eval(path)


@pytest.mark.parametrize('value', [np.nan, 1.1, -1.1, .001])
def test_values_that_are_no_pixels_are_refused_when_read(write, pixels, value):
    path = write('lfw/memfile/mem_file.dat', pixels, {'lfw': [True] * 4})
    np.memmap(path, np.float32, 'r+')[60] = value  # the first of image 1
    reader = EVALS.open(path)
    np.testing.assert_array_equal(reader.read(0), pixels[0])
    with pytest.raises(DataFormatError, match=r'image 1 \(pair 0\): values from .* of 255 levels'):
        reader.read(1)


def test_a_reader_travels_without_its_pixels_and_a_data_set_passes_them_on(write, pixels):
    path = write('lfw/memfile/mem_file.dat', pixels, {'lfw': [True] * 4})
    pickled = pickle.dumps(EVALS.open(path))
    assert len(pickled) < 5000
    np.testing.assert_array_equal(pickle.loads(pickled).read(7), pixels[7])
    dataset = EvalDataset(str(path), pipeline=[dict(type='DecodeFace')])
    np.testing.assert_array_equal(dataset[3]['img'], pixels[3])

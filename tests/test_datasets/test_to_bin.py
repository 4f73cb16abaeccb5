"""Any set of pairs becomes a pack with the same pairs, folds and images."""
import importlib.util
import pickle
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmface.datasets import open_eval
from mmface.datasets.formats import EVALS

quiet = pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')


@pytest.fixture(scope='module')
def tool():
    path = Path(__file__).resolve().parents[2] / 'tools/dataset_converters/to_bin.py'
    spec = importlib.util.spec_from_file_location('to_bin', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def small(tree):
    """Two people with two images each, and two pairs in one fold."""
    root = tree('A/A_0001.jpg', 'A/A_0002.jpg', 'B/B_0001.jpg', 'B/B_0002.jpg')
    (root / 'pairs.txt').write_text('1\nA\t1\t2\nA\t1\tB\t1\n')
    return root


@quiet
@pytest.mark.parametrize('name, options', [
    ('cfp', ['--options', 'protocol=FF']), ('agedb', []), ('calfw', []), ('cplfw', ['--format', 'cplfw'])
])
def test_the_pack_has_the_pairs_folds_and_images_of_the_set(tool, shared, tmp_path, capsys, name, options):
    source, out = shared / 'reference/fixtures/pairs' / name, tmp_path / 'new/set.bin'
    assert tool.main([str(source), str(out), *options]) == 0
    reader = EVALS.open(source, **({'protocol': 'FF'} if name == 'cfp' else {}))
    assert f'{len(reader.set)} pairs, {reader.set.same.sum()} of them genuine' in capsys.readouterr().out
    images, same = pickle.loads(out.read_bytes(), encoding='bytes')
    assert images == [reader.read(row) for row in reader.set.pairs.ravel()]
    assert same == reader.set.same.tolist()
    assert open_eval(out).fold.tolist() == reader.set.fold.tolist()


def test_folds_that_a_pack_cannot_hold_are_said(tool, small, tmp_path):
    with pytest.warns(UserWarning, match=r'1 folds of 2 pairs: readers of packs will take contiguous tenths'):
        assert tool.main([str(small), str(tmp_path / 'set.bin')]) == 0


def test_stored_pixels_become_png(tool, tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    reader = type('Reader', (), dict(path=tmp_path, where=str, read=lambda self, index: pixels))()
    data, size = tool.read_image(reader, 0, None)
    assert size == (4, 5)
    assert np.array_equal(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1], pixels)


@quiet
def test_bad_input_leaves_nothing_behind(tool, small, tmp_path, jpeg, capsys):
    out = tmp_path / 'set.bin'
    keep = (small / 'B/B_0001.jpg').read_bytes()
    for content, fact in ((keep[:200], 'cannot be decoded'), (jpeg(0, (40, 32)), '40 x 32 pixels: others have 112 x 112')):
        (small / 'B/B_0001.jpg').write_bytes(content)
        assert tool.main([str(small), str(out)]) == 2
        told = capsys.readouterr().err
        assert 'B/B_0001.jpg' in told and fact in told
    assert [path.name for path in tmp_path.iterdir()] == ['tree']
    (small / 'B/B_0001.jpg').write_bytes(keep)
    out.write_bytes(b'mine')
    assert tool.main([str(small), str(out)]) == 2
    assert 'exists already' in capsys.readouterr().err
    assert out.read_bytes() == b'mine'
    assert tool.main([str(small / 'nowhere'), str(tmp_path / 'other.bin')]) == 2

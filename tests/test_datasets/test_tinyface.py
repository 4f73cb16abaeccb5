"""TinyFace: lists in MATLAB files, and three folders of images."""
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval
from mmface.datasets.formats import EVALS


def cell(names: list) -> np.ndarray:
    array = np.empty((len(names), 1), object)
    array[:, 0] = names
    return array


@pytest.fixture
def root(tmp_path):
    """Two probes and one gallery image, lists only."""
    folder = tmp_path / 'tinyface/Testing_Set'
    folder.mkdir(parents=True)
    savemat(folder / 'probe_img_ID_pairs.mat', dict(probe_set=cell(['1_1.jpg', '2_1.jpg']), probe_ids=np.array([[1], [2]], np.uint16)))
    savemat(folder / 'gallery_match_img_ID_pairs.mat', dict(gallery_set=cell(['1_2.jpg']), gallery_ids=np.array([[1]], np.uint16)))
    return folder


def test_the_reference_set_has_the_expected_rows(shared):
    path = shared / 'reference/fixtures/ident'
    expected = json.loads((path / 'expected.json').read_text())['tinyface']
    found = open_eval(path / 'tinyface/tinyface')
    folders = dict(Probe=(found.probe, 'probe_names'), Gallery_Match=(found.gallery, 'gallery_names'),
                   Gallery_Distractor=(found.distractor, 'distractor_rows'))
    for folder, (rows, names) in folders.items():
        assert [found.paths[row] for row in rows] == [f'{path}/tinyface/tinyface/Testing_Set/{folder}/{name}' for name in expected[names]]
    assert found.ids[found.probe].tolist() == expected['probe_ids']
    assert found.ids[found.gallery].tolist() == expected['gallery_ids']
    assert (len(found.probe), len(found.gallery), len(found.distractor)) == (31, 23, 30)
    assert set(found.ids[found.distractor].tolist()) == {-100}


@pytest.mark.parametrize('name, fact', [
    ('fraction_id', 'row 1: id 1.5'),
    ('id_of_distractor', 'row 1: id -100 is the distractor label'),
    ('lengths_differ', '2 names, 1 id'),
    ('repeated_name', 'rows 1 and 2: 1_1.jpg'),
    ('truncated', 'truncated.mat: cannot be read: truncated or damaged: '),
    ('v73', 'MATLAB 7.3 (HDF5) file: save it as version 7'),
    ('wrong_key', 'keys probe_set, probe_ids missing: found: probe'),
])
def test_a_broken_reference_list_is_refused_with_the_facts(shared, name, fact):
    with pytest.raises(DataFormatError) as raised:
        open_eval(shared / f'reference/fixtures/adversarial/tinyface/{name}.mat', lists_only=True)
    assert fact in str(raised.value)


@pytest.mark.parametrize('name', ['flat_vectors', 'float_ids'])
def test_rows_and_doubles_are_accepted(shared, name):
    found = open_eval(shared / f'reference/fixtures/adversarial/tinyface/{name}.mat', lists_only=True)
    assert [Path(path).name for path in found.paths] == ['1_1.jpg', '2_1.jpg']
    assert (found.ids.dtype, found.ids.tolist()) == (np.int64, [1, 2])


@pytest.mark.parametrize('names, ids, fact', [
    (['1_1.jpg', '../x.jpg'], [1, 2], 'row 2: name .*x.jpg.*: expected the name of an image file'),
    (['1_1.jpg', ''], [1, 2], 'row 2: name '),
    (['1_1.jpg', 7.], [1, 2], 'row 2: name '),
    (['1_1.jpg', '2_1.jpg'], [1, np.nan], 'row 2: id nan'),
    (['1_1.jpg', '2_1.jpg'], [1, np.inf], 'row 2: id inf'),
    (['1_1.jpg', '2_1.jpg'], [1, 2j], 'probe_ids: values of type complex128'),
])
def test_names_and_ids_are_checked_row_by_row(root, names, ids, fact):
    savemat(root / 'probe_img_ID_pairs.mat', dict(probe_set=cell(names), probe_ids=np.array(ids)))
    with pytest.raises(DataFormatError, match=fact):
        open_eval(root, lists_only=True)


def test_the_person_is_the_lists_not_that_of_the_file_name(root):
    savemat(root / 'gallery_match_img_ID_pairs.mat', dict(gallery_set=cell(['1_2.jpg']), gallery_ids=np.array([[2]])))
    assert open_eval(root.parent, lists_only=True).ids.tolist() == [1, 2, 2]


def test_images_are_looked_for_beside_the_lists_or_where_they_are_said_to_be(root, tree):
    with pytest.warns(DataFormatWarning, match='none of the 3 images is beside the list'):
        open_eval(root)
    images = tree('Probe/1_1.jpg', 'Gallery_Match/1_2.jpg', 'Gallery_Distractor/b.jpg', 'Gallery_Distractor/a.PNG',
                  'Gallery_Distractor/list.txt')
    with pytest.raises(DataFormatError, match=r'1 of 5 images are missing: Probe/2_1\.jpg'):
        open_eval(root, images=images)
    tree('Probe/2_1.jpg')
    reader = EVALS.open(root, images=images)
    assert reader.files[3:] == ['Gallery_Distractor/a.PNG', 'Gallery_Distractor/b.jpg']
    assert reader.read(4) == (images / 'Gallery_Distractor/b.jpg').read_bytes()


def test_a_missing_list_is_named(root):
    (root / 'gallery_match_img_ID_pairs.mat').unlink()
    with pytest.raises(DataFormatError, match=r'gallery_match_img_ID_pairs\.mat: no such file'):
        open_eval(root)

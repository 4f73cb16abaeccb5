"""SCface: what counts as probe and as gallery, in all layouts."""
import json

import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval
from mmface.datasets.formats import EVALS

MUGSHOTS = ('001_frontal.JPG', '002_frontal.jpg')
PICTURES = ('001_cam1_1.jpg', '001_cam5_3.jpg', '001_cam2_3.jpg', '001_cam6_1.jpg', '002_cam7_2.jpg', '002_cam3_2.jpg', '001_cam8.jpg')


def names(found, rows) -> list[str]:
    return [found.paths[row].rpartition('/')[2] for row in rows]


def test_the_reference_set_has_the_expected_rows(shared):
    root = shared / 'reference/fixtures/ident'
    expected = json.loads((root / 'expected.json').read_text())['scface']
    found = open_eval(root / 'scface')
    rows = [[found.paths[row].removeprefix(f'{root}/scface/'), int(found.ids[row]), int(condition[1])]
            for row, condition in zip(found.probe, found.condition, strict=True)]
    assert rows == [[path, person, distance] for path, person, _, distance in expected['visible_probes']]
    assert names(found, found.gallery) == expected['gallery']
    assert found.ids[found.gallery].tolist() == list(range(1, expected['subjects'] + 1))
    assert len(found.distractor) == 0


@pytest.mark.parametrize('mugshots, pictures', [('', ''), ('mugshot_frontal_cropped_all/', 'surveillance_cameras_all/'),
                                                ('mugshot_frontal_cropped_all/', None)])
def test_flat_and_nested_layouts_give_the_same(tree, mugshots, pictures):

    def place(name: str) -> str:
        if pictures is not None or name == '001_cam8.jpg':
            return f'{pictures or ""}{name}'
        camera, distance = name[7], name[9]
        return f'surveillance_cameras_distance_{distance}/cam_{camera}/{name}'

    root = tree(*(mugshots + name for name in MUGSHOTS), *map(place, PICTURES), 'Thumbs.db')
    found = open_eval(root)
    assert names(found, found.probe) == ['001_cam1_1.jpg', '001_cam2_3.jpg', '001_cam5_3.jpg', '002_cam3_2.jpg']
    assert found.condition == ['d1', 'd3', 'd3', 'd2']
    assert names(found, found.gallery) == list(MUGSHOTS)
    assert found.ids.tolist() == [1, 1, 1, 2, 1, 2]
    reader = EVALS.open(root)
    assert reader.read(3) == (root / place('002_cam3_2.jpg')).read_bytes()


def test_people_can_be_chosen(tree):
    found = open_eval(tree(*MUGSHOTS, *PICTURES), people=[2])
    assert names(found, [*found.probe, *found.gallery]) == ['002_cam3_2.jpg', '002_frontal.jpg']
    with pytest.raises(DataFormatError, match=r'no picture of 2 people: 007, 130$'):
        open_eval(tree(), 'scface', people=[2, 7, 130])


def test_a_full_release_has_every_picture_twice_and_counts_it_once(tree):
    nested = [f'surveillance_cameras_distance_{name[9]}/cam_{name[7]}/{name}' for name in PICTURES[:-1]]
    root = tree(*(f'mugshot_frontal_{kind}_all/{name}' for kind in ('cropped', 'original') for name in MUGSHOTS),
                *(f'surveillance_cameras_all/{name}' for name in PICTURES), *nested)
    assert len(open_eval(root).paths) == 6


@pytest.mark.parametrize('files, fact', [
    ([*MUGSHOTS, *PICTURES, '003_cam1_1.jpg'], 'no mugshot of 1 people: 003'),
    ([*MUGSHOTS, *PICTURES, '001_frontal.png'], r'001_frontal\.JPG and 001_frontal\.png: two files of one picture'),
    ([*MUGSHOTS, '001_cam6_1.jpg'], 'no picture: expected <person>_cam<camera>_<distance>'),
])
def test_what_cannot_be_searched_is_refused(tree, files, fact):
    with pytest.raises(DataFormatError, match=fact):
        open_eval(tree(*files), 'scface')


def test_other_files_are_left_out_with_a_warning(tree):
    with pytest.warns(DataFormatWarning, match=r'001_cam9_1\.jpg, readme\.txt: 2 files with other names: left out'):
        assert len(open_eval(tree(*MUGSHOTS, *PICTURES, '001_cam9_1.jpg', 'readme.txt')).paths) == 6

"""Image folders: which directory is which class."""
import json
import os
from collections import defaultdict

import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_records


@pytest.fixture(scope='session')
def folders(shared):
    return shared / 'reference/fixtures/folder'


@pytest.mark.parametrize('entry, name', [
    ('casia', 'CASIA-WebFace'),
    ('webface42m', 'WebFace42M'),
    ('adaface_imgs', 'adaface/imgs'),
    ('glint', 'glint360k_unpacked'),
])
def test_classes_are_the_ranks_of_the_directories(folders, entry, name):
    records = open_records(folders / name)
    samples = json.loads((folders / 'expected.json').read_text())[entry]['samples']
    rank = {number: at for at, number in enumerate(sorted({label for _, label in samples}))}
    assert records.files == [file for file, _ in samples]
    assert records.labels.tolist() == [rank[label] for _, label in samples]
    assert bytes(records.read(0)) == (folders / name / samples[0][0]).read_bytes()


def test_numbers_in_names_are_compared_as_numbers(folders):
    expected = json.loads((folders / 'expected.json').read_text())['adaface_imgs']['numeric_class_to_idx']
    assert open_records(folders / 'adaface/imgs').classes == expected


def test_names_equal_as_numbers_are_still_two_classes_in_a_fixed_order(tree):
    assert open_records(tree('01/a.jpg', '1/a.jpg', 'x10/a.jpg', 'x9/a.jpg')).classes == {'01': 0, '1': 1, 'x9': 2, 'x10': 3}


def test_rubbish_is_no_image_and_an_empty_directory_no_class(folders):
    expected = json.loads((folders / 'expected.json').read_text())['messy']
    with pytest.warns(DataFormatWarning, match='empty_class: no image'):
        records = open_records(folders / 'messy')
    assert sorted(records.files) == sorted(expected['images'])
    people = defaultdict(set)
    for file, label in zip(records.files, records.labels.tolist(), strict=True):
        people[os.path.dirname(file)].add(label)
    assert dict(people) == {name: {label} for name, label in records.classes.items()}


def test_images_beside_the_directories_are_reported(tree):
    with pytest.warns(DataFormatWarning, match=r'1 images beside the directories, such as stray\.jpg'):
        assert open_records(tree('stray.jpg', 'a/1.jpg')).files == ['a/1.jpg']


def test_a_link_back_to_the_root_does_not_go_round_for_ever(tree):
    root = tree('a/1.jpg')
    (root / 'a/again').symlink_to(root, target_is_directory=True)
    assert open_records(root).files == ['a/1.jpg']


@pytest.mark.parametrize('names', [(), ('stray.jpg', ), ('a/readme.txt', 'b/._1.jpg')])
def test_a_folder_without_images_is_refused(tree, tmp_path, names):
    with pytest.raises(DataFormatError, match='no image in any directory of this folder: expected one directory an identity'):
        open_records(tree(*names) if names else tmp_path)

"""Image folders: which directory is which class."""
import json
import os
import pickle
import warnings
from collections import defaultdict

import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, FaceDataset, open_records
from mmface.datasets.formats.common import folder_walk


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


def test_labels_as_text_are_those_of_torchvision(folders):
    expected = json.loads((folders / 'expected.json').read_text())['adaface_imgs']['imagefolder_class_to_idx']
    records = open_records(folders / 'adaface/imgs', labels='text')
    assert records.classes == expected
    assert records.labels.tolist() == [expected[file.split('/')[0]] for file in records.files]


@pytest.mark.parametrize('entry, name', [('adaface_imgs', 'adaface/imgs'), ('glint', 'glint360k_unpacked')])
def test_the_number_in_the_name_can_be_the_label(folders, entry, name):
    samples = json.loads((folders / 'expected.json').read_text())[entry]['samples']
    records = open_records(folders / name, labels='name')
    assert list(zip(records.files, records.labels.tolist(), strict=True)) == [tuple(sample) for sample in samples]
    assert records.num_classes == max(label for _, label in samples) + 1


@pytest.mark.parametrize('names, fact', [
    (['1/a.jpg', 'Ada/a.jpg'], 'Ada: no class number in this name'),
    (['0_0_0000001/a.jpg'], '0_0_0000001: number 0 and 0 and 0000001'),
    (['1/a.jpg', 'x/01/a.jpg'], '1 and x/01: both are class 1'),
    (['99999999999/a.jpg'], '99999999999: number 99999999999'),
])
def test_names_without_one_number_each_are_refused_as_labels(tree, names, fact):
    with pytest.raises(DataFormatError, match=fact):
        open_records(tree(*names), labels='name')


def test_an_unknown_choice_of_labels_is_refused(tree):
    with pytest.raises(ValueError, match="labels='stored': expected one of 'rank', 'text', 'name'"):
        open_records(tree('a/1.jpg'), labels='stored')


def test_webfaces_directories_of_classes_give_the_classes_of_the_flat_tree(folders, tmp_path):
    flat = open_records(folders / 'WebFace42M')
    for name in flat.classes:
        (tmp_path / name[0]).mkdir(exist_ok=True)
        (tmp_path / name[0] / name).symlink_to(folders / 'WebFace42M' / name)
    nested = open_records(tmp_path)
    assert nested.classes == {f'{name[0]}/{name}': label for name, label in flat.classes.items()}
    assert [file[2:] for file in nested.files] == list(flat.files)
    assert nested.labels.tolist() == flat.labels.tolist()


def test_a_linked_directory_counts_once_and_what_is_really_there_wins(tree):
    root = tree('b/1.jpg')
    (root / 'a').symlink_to(root / 'b', target_is_directory=True)
    with pytest.warns(DataFormatWarning, match='a is b: 1 links to directories that are in the tree already'):
        assert open_records(root).classes == {'b': 0}


def test_links_that_go_round_do_not_hold_up_anybody(tree):
    root = tree('a/1.jpg', 'b/2.jpg')
    (root / 'a/to_b').symlink_to(root / 'b', target_is_directory=True)
    (root / 'b/to_a').symlink_to(root / 'a', target_is_directory=True)
    with pytest.warns(DataFormatWarning, match='2 links'):
        assert list(open_records(root).files) == ['a/1.jpg', 'b/2.jpg']


@pytest.mark.parametrize('names, fact', [
    (['a/A.jpg', 'a/a.JPG', 'a/b.jpg'], r'a/a\.JPG and A\.jpg: 1 names differ'),
    (['Ada/1.jpg', 'ADA/1.jpg'], 'Ada and ADA: 1 names differ'),
    (['x/Zoe\u0308.jpg', 'x/Zo\u00eb.jpg'], '1 names differ'),
])
def test_names_that_other_systems_take_for_one_are_reported(tree, names, fact):
    with pytest.warns(DataFormatWarning, match=fact):
        assert len(open_records(tree(*names))) == len(names)


def test_what_systems_leave_beside_the_data_is_passed_over(tree):
    names = ['a/1.jpg', 'a/Thumbs.db', 'a/desktop.ini', '__MACOSX/a/2.jpg', 'a/@eaDir/3.jpg', '.Trash/4.jpg', 'a/._1.jpg', '.DS_Store']
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert open_records(tree(*names)).files == ['a/1.jpg']


def test_files_that_are_no_images_are_counted_in_the_log(tree, monkeypatch):
    said = []
    monkeypatch.setattr(folder_walk, 'print_log', lambda text, logger: said.append(text))
    open_records(tree('a/1.jpg', 'a/notes.txt', 'readme.md'))
    assert [text.partition(': ')[2] for text in said] == ['2 files are no images by their suffix and left out: readme.md, a/notes.txt']


def test_a_directory_that_cannot_be_read_is_an_error(tree, monkeypatch):
    root, scandir = tree('a/1.jpg', 'b/1.jpg'), os.scandir

    def deny(path):
        if str(path).endswith('/b'):
            raise PermissionError(13, 'Permission denied')
        return scandir(path)

    monkeypatch.setattr(folder_walk.os, 'scandir', deny)
    with pytest.raises(DataFormatError, match='b: Permission denied'):
        open_records(root, format='folder')


def test_an_image_that_has_gone_since_is_named(tree):
    records = open_records(tree('a/1.jpg', 'a/2.jpg'))
    (records.path / 'a/2.jpg').unlink()
    with pytest.raises(DataFormatError, match=r'tree: a/2\.jpg: No such file'):
        records.read(1)


def test_one_identity_is_a_set_and_the_mapping_is_in_the_metainfo(tree):
    dataset = FaceDataset(str(tree('Ada/1.jpg', 'Ada/2.jpg')))
    assert dataset.metainfo == dict(num_classes=1, classes={'Ada': 0})


def test_a_reader_travels_to_a_worker(tree):
    records = pickle.loads(pickle.dumps(open_records(tree('a/1.jpg', 'b/2.jpg'))))
    assert (records.files, records.labels.tolist()) == (['a/1.jpg', 'b/2.jpg'], [0, 1])
    assert records.read(1).startswith(b'\xff\xd8')

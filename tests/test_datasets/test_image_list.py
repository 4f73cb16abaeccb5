"""Lists of images: every dialect is read as its owner means it, and what is wrong is named with its line."""
import warnings

import numpy as np
import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_records

DIALECTS = {  # format -> a list of the fixtures, the folder of its images, and what its owner's code reads from it
    'insightface_list': ('insightface_train.lst', 'adaface', [('imgs/0/1.jpg', 0), ('imgs/1/3.jpg', 1)]),
    'im2rec_list': ('im2rec_train.lst', None, [('id_0/a.jpg', 0), ('id_1/b c.jpg', 1)]),
    'magface_list': ('magface_train.list', 'adaface', [('imgs/0/1.jpg', 0), ('imgs/1/3.jpg', 1)]),
    'facexzoo_list': ('facexzoo_train.txt', 'adaface/imgs', [('0/1.jpg', 0), ('1/3.jpg', 1)]),
    'cvlface_list': ('cvlface_train.tsv', 'adaface/imgs', [('0/1.jpg', 0), ('0/2.jpg', 0), ('1/3.jpg', 1)]),
}
LINES = {  # format -> a line for path, class
    'insightface_list': '1\t{}\t{}', 'im2rec_list': '7\t{1}\t{0}', 'magface_list': '{} 0 {}', 'facexzoo_list': '{} {}',
    'cvlface_list': '7\t{}\t{}'
}


@pytest.fixture(scope='session')
def folders(shared):
    return shared / 'reference/fixtures/folder'


@pytest.fixture
def write(tmp_path):
    """``write(text)``: a list, which is not beside any images."""

    def make(text: str | bytes, name: str = 'train.lst'):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
@pytest.mark.parametrize('name', DIALECTS)
def test_a_dialect_is_read_as_its_owner_reads_it(folders, name):
    file, images, expected = DIALECTS[name]
    options = dict(lists_only=True) if images is None else dict(images=folders / images)
    records = open_records(folders / 'lists' / file, name, **options)
    assert list(zip(records.files, records.labels.tolist(), strict=True)) == expected
    assert records.num_classes == 2
    if images is not None:
        assert records.read(1) == (folders / images / expected[1][0]).read_bytes()


def test_landmarks_and_boxes_of_insightface_are_kept(folders):
    with pytest.warns(DataFormatWarning, match=r'imgs/1/3\.jpg: 1 images are not aligned'):
        records = open_records(folders / 'lists/insightface_train.lst', 'insightface_list', images=folders / 'adaface')
    assert records.aligned.tolist() == [True, False]
    assert np.isnan(records.boxes[0]).all() and np.isnan(records.landmarks[0]).all()
    assert records.boxes[1].tolist() == [10, 12, 90, 100]
    np.testing.assert_allclose(records.landmarks[1], [[30.1, 45.5], [60.2, 46.5], [45, 70], [33.3, 90], [58.8, 91]], rtol=1e-6)


def test_landmarks_of_cvlface_belong_to_the_rank_in_the_list(folders, write):
    path, images = folders / 'lists/cvlface_train.tsv', folders / 'adaface/imgs'
    records = open_records(path, 'cvlface_list', images=images, landmarks=folders / 'lists/cvlface_ldmk_5points.csv')
    expected = [[.34196, .46161], [.65625, .45982], [.5, .64018], [.37054, .825], [.63125, .82321]]
    np.testing.assert_array_equal(records.landmarks[0], expected)
    assert np.isnan(records.landmarks[1:]).all()
    header = 'idx,' + ','.join(f'ldmk_{at}' for at in range(10))
    with pytest.raises(DataFormatError, match='line 2: idx 3: the list has 3 images'):
        open_records(path, 'cvlface_list', images=images, landmarks=write(f'{header}\n3,{",".join("0" * 10)}\n', 'ldmk.csv'))


@pytest.mark.parametrize('name', ['train.lst', 'train.list', 'train.tsv', 'train.txt'])
def test_a_list_needs_the_name_of_its_format(write, name):
    with pytest.raises(DataFormatError, match=r'looks like .*im2rec_list and insightface_list .*: say which with format='):
        open_records(write('1\ta.jpg\t0\n', name))


@pytest.mark.parametrize('name', LINES)
def test_blank_lines_crlf_and_a_byte_order_mark_are_accepted(write, name):
    lines = [LINES[name].format(*line) for line in (('a.jpg', 0), ('./b/c.jpg', '3.000000'))]
    records = open_records(write(b'\xef\xbb\xbf' + '\r\n\r\n'.join(lines).encode() + b'\r\n'), name, lists_only=True)
    assert (records.files, records.labels.tolist(), records.num_classes) == (['a.jpg', 'b/c.jpg'], [0, 3], 4)


@pytest.mark.parametrize('name', LINES)
@pytest.mark.parametrize('label, fact', [('2.5', 'line 3: label 2.5 is no class number'), ('-1', 'line 3: label -1'),
                                         ('nan', 'line 3: label nan'), ('Ada', "line 3: label 'Ada' is no number")])
def test_a_label_that_is_no_class_is_refused_with_its_line(write, name, label, fact):
    text = '\n\n'.join([LINES[name].format('a.jpg', 0), LINES[name].format('b.jpg', label)])
    with pytest.raises(DataFormatError, match=fact):
        open_records(write(text), name, lists_only=True)


@pytest.mark.parametrize('name, line, fact', [
    ('insightface_list', '1\ta.jpg', '2 fields'),
    ('insightface_list', 'a.jpg\t1\t0', "aligned flag 'a.jpg'"),
    ('insightface_list', '0\ta.jpg\t0\t1\t2', '5 fields'),
    ('insightface_list', '0\ta.jpg\t0\t1\t2\t3\tx', 'could not convert'),
    ('im2rec_list', '1\t0', '2 fields'),
    ('im2rec_list', 'a.jpg\t0\t1', "index 'a.jpg'"),
    ('magface_list', 'a.jpg 0', '2 fields'),
    ('facexzoo_list', 'a b.jpg 0', '3 fields'),
    ('cvlface_list', '1\ta.jpg\t0\t0', '4 fields'),
    ('cvlface_list', 'a.jpg\t1\t0', "index 'a.jpg'"),
])
def test_a_line_of_another_format_is_refused(write, name, line, fact):
    with pytest.raises(DataFormatError) as raised:
        open_records(write(LINES[name].format('ok.jpg', 0) + '\n' + line), name, lists_only=True)
    assert f'line 2: {fact}' in str(raised.value)
    assert 'is it another format?' in str(raised.value)


def test_windows_paths_are_read_with_one_warning(write, tree):
    root = tree('imgs/a/1.jpg', 'imgs/b/2.jpg')
    with pytest.warns(DataFormatWarning, match='line 1, line 2: 2 paths with backslashes: they are read as slashes') as told:
        records = open_records(write('imgs\\a\\1.jpg 0\nimgs\\b\\2.jpg 1\n'), 'facexzoo_list', images=root)
    assert len(told) == 1
    assert records.files == ['imgs/a/1.jpg', 'imgs/b/2.jpg']


@pytest.mark.parametrize('prefix', ['/home/author/data/', 'C:/data/'])
def test_paths_of_another_machine_are_refused_with_what_to_strip(write, tree, prefix):
    path, root = write(f'{prefix}a/1.jpg 0\n'), tree('a/1.jpg')
    with pytest.raises(DataFormatError) as raised:
        open_records(path, 'facexzoo_list', images=root)
    assert f'line 1: path {prefix}a/1.jpg is absolute: there is a/1.jpg in {root}: give strip={prefix!r}' in str(raised.value)
    assert open_records(path, 'facexzoo_list', images=root, strip=prefix).files == ['a/1.jpg']
    with pytest.raises(DataFormatError, match=r"line 1: path .*: it does not begin with strip='/elsewhere'"):
        open_records(path, 'facexzoo_list', images=root, strip='/elsewhere')


def test_absolute_paths_of_this_machine_can_be_used(write, tree):
    file = tree('a/1.jpg') / 'a/1.jpg'
    path = write(f'{file} 0\n')
    with pytest.raises(DataFormatError, match="it is on this machine: give images='/' and strip='/'"):
        open_records(path, 'facexzoo_list')
    assert open_records(path, 'facexzoo_list', images='/', strip='/').read(0) == file.read_bytes()


def test_missing_images_are_counted_at_opening(write, tree):
    with pytest.raises(DataFormatError, match=r'2 of 3 images are missing: a/2\.jpg, c/1\.jpg'):
        open_records(write('a/1.jpg 0\na/2.jpg 0\nc/1.jpg 1\n'), 'facexzoo_list', images=tree('a/1.jpg'))


@pytest.mark.parametrize('text, fact', [
    (b'', 'train.lst: empty'),
    (b'\n \n', 'train.lst: empty'),
    (b'a.jpg 0\n\xff.jpg 0\n', 'line 2: byte 0xff is not UTF-8'),
    (b'../../etc/passwd 0\n', 'expected a path inside the folder'),
    (b'<!DOCTYPE html>', 'a web page'),
])
def test_what_is_no_list_is_refused(write, text, fact):
    with pytest.raises(DataFormatError, match=fact):
        open_records(write(text), 'facexzoo_list', lists_only=True)


def test_gaps_are_closed_on_request(write):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        records = open_records(write('a 7\nb 2\nc 7\n'), 'facexzoo_list', lists_only=True, labels='rank')
    assert (records.labels.tolist(), records.num_classes, records.classes) == ([1, 0, 1], 2, {'2': 0, '7': 1})
    with pytest.raises(ValueError, match="labels='name': expected 'stored' or 'rank'"):
        open_records(write('a 7\n'), 'facexzoo_list', labels='name')

"""A list of groups: who is in which, and what a list must not hold."""
import pytest

from mmface.datasets import DataFormatError
from mmface.datasets.formats import read_groups

PATHS = ['/data/lfw/Ann_Lee/Ann_Lee_0001.jpg', '/data/lfw/Ann_Lee/Ann_Lee_0002.jpg', '/data/lfw/Bo/Bo_0001.jpg', '/data/old/Bo/Bo_0001.jpg']
PEOPLE = ['Ann_Lee', 'Ann_Lee', 'Bo', 'Bo']


@pytest.fixture
def read(tmp_path):

    def call(text, people=PEOPLE, encoding='utf-8'):
        (tmp_path / 'groups.csv').write_bytes(text.encode(encoding))
        return read_groups(tmp_path / 'groups.csv', PATHS, people)

    return call


@pytest.mark.parametrize('text', [
    'Ann_Lee,north\nBo,south\n', 'identity,group\nBo,south\nAnn_Lee,north\n', 'Ann_Lee\tnorth\nBo\tsouth',
    '\ufeffAnn_Lee,north\r\n\r\nBo,south\r\n', '"Ann_Lee", north \n Bo,south\n', 'Ann_Lee,north\nBo,south\nBo,south\n',
    'image,group\nAnn_Lee_0001.jpg,north\nAnn_Lee/Ann_Lee_0002.jpg,north\nlfw/Bo/Bo_0001.jpg,south\n/data/old/Bo/Bo_0001.jpg,south\n',
])  # yapf: disable
def test_people_and_images_are_named_in_every_usual_way(read, text):
    assert read(text) == ['north', 'north', 'south', 'south']


def test_images_that_no_line_names_are_of_no_group(read):
    assert read('Bo,south\n') == ['', '', 'south', 'south']
    assert read('Ann_Lee_0002.jpg,north\n', people=None) == ['', 'north', '', '']


@pytest.mark.parametrize('text, says', [
    ('Ann_Lee,north\nCy,south\n', "line 2: name 'Cy': no person and no image"),
    ('Ann_Lee,north\n\nAnn_Lee_0002.jpg,south\n', "line 3: group 'south': line 1 puts /data/lfw/Ann_Lee/Ann_Lee_0002.jpg into 'north'"),
    ('identity,group\nBo,south\nBo,north\n', "line 3: group 'north': line 2 puts"),
    ('Bo_0001.jpg,south\n', "line 1: name 'Bo_0001.jpg': several images end so"),
    ('Ann_Lee,north,1\n', 'line 1: 3 fields'),
    ('Ann_Lee,north\nBo\n', 'line 2: 1 fields'),
    ('Ann_Lee,\n', 'line 1: 2 fields'),
    ('', 'no group'),
    ('identity,group\n', 'no group'),
])
def test_a_line_that_cannot_be_used_is_named(read, text, says):
    with pytest.raises(DataFormatError, match=rf'groups\.csv: {says}'):
        read(text)


def test_another_encoding_is_refused(read):
    with pytest.raises(DataFormatError, match='not UTF-8'):
        read('Zoë,north\n', encoding='latin-1')

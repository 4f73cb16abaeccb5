"""The door: what is told apart, and what is said when it is not."""
import pytest

from mmface.datasets import DataFormatError, open_eval, open_records
from mmface.datasets.formats import RECORDS
from mmface.datasets.formats.table import FormatTable


def test_a_rec_is_found_by_file_and_by_folder(small_rec):
    assert open_records(small_rec).labels.tolist() == open_records(str(small_rec.parent)).labels.tolist()


def test_the_format_can_be_named(tree):
    assert len(open_records(tree('a/1.jpg'), format='folder')) == 1
    with pytest.raises(ValueError, match="unknown format 'lmbd' of a training set; known are: auto, "):
        open_records(tree('a/1.jpg'), format='lmbd')


@pytest.mark.parametrize('opened', [open_records, open_eval])
def test_a_missing_path_is_named(opened, tmp_path):
    with pytest.raises(DataFormatError, match=r'nowhere: no such file or folder: expected an? '):
        opened(tmp_path / 'nowhere')


def test_an_unknown_file_is_refused_with_the_formats_there_are(tmp_path):
    (tmp_path / 'a.mp4').write_bytes(b'\0' * 100)
    with pytest.raises(DataFormatError, match=r'a\.mp4: not recognised as a training set: known formats .*recordio'):
        open_records(tmp_path / 'a.mp4')


def test_two_formats_that_fit_must_be_told_apart_by_name(tmp_path):
    table = FormatTable('a test set')
    for name in ('one', 'two'):
        table.register(name)(type(name, (), {'sniff': staticmethod(lambda path: True), '__init__': lambda self, path: None}))
    with pytest.raises(DataFormatError, match='looks like one and two: say which with format='):
        table.open(tmp_path)
    assert type(table.open(tmp_path, 'two')).__name__ == 'two'


def test_a_format_is_added_by_a_decorated_class():
    assert RECORDS.readers['recordio'].__name__ == 'RecordIO'

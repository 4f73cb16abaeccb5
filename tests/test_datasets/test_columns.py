"""Lists in columns: what is read, and which line is named when something is wrong with one."""
import numpy as np
import pytest

from mmface.datasets import DataFormatError
from mmface.datasets.formats.common.columns import line_of, read_columns

FIELDS = [('image', str), ('template', int), ('score', float)]


@pytest.fixture
def read(tmp_path):

    def call(content: bytes | str, fields=FIELDS, delimiter=None) -> np.ndarray:
        (tmp_path / 'list').write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_columns(tmp_path / 'list', fields, delimiter)

    return call


@pytest.mark.parametrize('content', [
    'a.jpg 1 .5\nb.jpg -2 1e-3\n',
    'a.jpg\t1\t.5\nb.jpg\t-2\t1e-3',
    '\ufeffa.jpg  1 .5  \r\n\r\n   \nb.jpg -2 1e-3\r\n',
], ids=['blanks', 'tabs', 'byte order mark, blank lines, CRLF'])
def test_columns_have_the_declared_types(read, content):
    table = read(content)
    assert table['image'].tolist() == ['a.jpg', 'b.jpg']
    assert (table['template'].dtype, table['template'].tolist()) == (np.int64, [1, -2])
    assert (table['score'].dtype, table['score'].tolist()) == (np.float64, [.5, 1e-3])


def test_whole_numbers_are_exact_to_the_last_bit(read):
    ends = [2**63 - 1, -2**63, 2**53 + 1]
    assert read('\n'.join(map(str, ends)), [('template', int)])['template'].tolist() == ends


@pytest.mark.parametrize('line, fact', [
    ('c.jpg 3', 'line 4: 2 fields: expected 3 blank-separated fields: image, template, score'),
    ('c.jpg 3 .5 7', 'line 4: 4 fields: expected 3'),
    ('c.jpg,3,.5', 'line 4: 1 field: expected 3'),
    ('c.jpg 1.5 .5', 'line 4: template 1.5: expected a whole number'),
    ('c.jpg 1e3 .5', 'line 4: template 1e3'),
    ('c.jpg 0x10 .5', 'line 4: template 0x10'),
    ('c.jpg 9223372036854775808 .5', 'line 4: template 9223372036854775808: expected a whole number of at most 64 bits'),
    ('c.jpg 3 half', 'line 4: score half: expected a finite number'),
    ('c.jpg 3 nan', 'line 4: score nan: expected a finite number'),
    ('c.jpg 3 -inf', 'line 4: score -inf'),
    (b'\xe9.jpg 3 .5', 'line 4: byte 0xe9 is not UTF-8'),
])
def test_a_broken_line_is_named_though_blank_lines_come_before(read, line, fact):
    with pytest.raises(DataFormatError) as raised:
        read(b'a.jpg 1 .5\n\nb.jpg 2 .5\n' + (line if isinstance(line, bytes) else line.encode()) + b'\nd.jpg 4 .5\n')
    assert fact in str(raised.value)


@pytest.mark.parametrize('content', ['', '\n \n'])
def test_a_list_of_nothing_is_refused(read, content):
    with pytest.raises(DataFormatError, match='list: empty: expected lines of image, template, score'):
        read(content)


def test_a_csv_may_have_more_columns_and_quotes(read):
    table = read('ID,PERSON,"FILE, NAME"\n1,2,"a, b.jpg"\n\n"3",4,c.jpg\n', [('ID', int), ('PERSON', int)], ',')
    assert table.tolist() == [(1, 2), (3, 4)]


@pytest.mark.parametrize('content, fact', [
    ('1,2,a.jpg\n3,4,b.jpg\n', 'line 1: no header but 1'),
    ('ID,PERSON\n1,2\n3\n', 'line 3: 1 field: expected 2 ","-separated fields: ID, PERSON'),
    ('ID,PERSON\n1,x\n', 'line 2: PERSON x'),
    ('ID PERSON\n1 2\n', 'line 2: 1 field'),
    ('ID,PERSON\n', 'empty'),
])
def test_a_broken_csv_is_refused_with_its_line(read, content, fact):
    with pytest.raises(DataFormatError) as raised:
        read(content, [('ID', int), ('PERSON', int)], ',')
    assert fact in str(raised.value)


def test_a_missing_list_and_a_pointer_in_its_place_are_named(read, tmp_path):
    with pytest.raises(DataFormatError, match='absent: no such file'):
        read_columns(tmp_path / 'absent', FIELDS)
    with pytest.raises(DataFormatError, match='Git LFS pointer'):
        read('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n')


def test_rows_are_counted_without_blank_lines_and_header(tmp_path):
    (tmp_path / 'list').write_text('a\n\nb\n\n\nc\n')
    assert [line_of(tmp_path / 'list', row) for row in range(3)] == ['line 1', 'line 3', 'line 6']
    assert [line_of(tmp_path / 'list', row, header=True) for row in range(2)] == ['line 3', 'line 6']

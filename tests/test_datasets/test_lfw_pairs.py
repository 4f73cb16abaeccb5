"""Pair lists in LFW's syntax, with and without their images."""
import json

import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval

CLEAN = ['2\t2', 'A\t1\t2', 'B\t1\t2', 'A\t1\tB\t1', 'A\t2\tB\t2', 'A\t1\t3', 'B\t2\t3', 'A\t3\tB\t3', 'A\t1\tB\t3']


@pytest.fixture
def listed(tmp_path):
    """``listed(text)`` or ``listed(lines)``: the list opened without images."""

    def make(content, **options):
        path = tmp_path / 'pairs.txt'
        path.write_bytes(content if isinstance(content, bytes) else '\n'.join(content).encode())
        return open_eval(path, 'lfw', lists_only=True, **options)

    return make


def with_line(number: int, line: str) -> list[str]:
    return [line if at == number else old for at, old in enumerate(CLEAN, 1)]


@pytest.mark.parametrize('file, entry', [
    ('pairs.txt', 'pairs'),
    ('pairsDevTest.txt', 'dev_test_pairs'),
    ('pairsDevTrain.txt', 'dev_train_pairs'),
])
@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_the_lists_of_lfw_give_the_expected_pairs(shared, file, entry):
    root = shared / 'reference/fixtures/pairs'
    expected = json.loads((root / 'expected.json').read_text())['lfw']
    pair_set = open_eval(root / 'lfw' / file)
    names = [path.removeprefix(f'{root}/lfw/lfw/') for path in pair_set.paths]
    found = [[names[a], names[b], same] for (a, b), same in zip(pair_set.pairs, pair_set.same.tolist(), strict=True)]
    assert found == [[expected['rows'][a], expected['rows'][b], same] for a, b, same in expected[entry]]
    folds = 10 if entry == 'pairs' else 1
    assert pair_set.fold.tolist() == [fold for fold in range(folds) for _ in range(len(found) // folds)]
    assert [f'{person}/' for person in pair_set.identities] == [name[:name.index('/') + 1] for name in names]


def test_the_real_list_has_ten_folds_that_share_nobody(shared):
    pair_set = open_eval(shared / 'data/lfw_pairs.txt', lists_only=True)
    people = [{pair_set.identities[row] for row in pair_set.pairs[pair_set.fold == fold].ravel()} for fold in range(10)]
    assert len(pair_set) == 6000
    assert [int(pair_set.same[pair_set.fold == fold].sum()) for fold in range(10)] == [300] * 10
    assert sum(map(len, people)) == len(set.union(*people))


@pytest.mark.parametrize('name, fact', [
    ('empty', 'empty.txt: empty'),
    ('five_columns', 'line 4: 5 fields'),
    ('index_zero', 'line 2: image number 0'),
    ('too_few_lines', 'header promises 2 x 4 pairs, found 7'),
    ('too_many_lines', 'header promises 2 x 4 pairs, found 9: expected 8 pairs'),
])
def test_a_broken_list_is_refused_with_the_facts(shared, name, fact):
    with pytest.raises(DataFormatError) as raised:
        open_eval(shared / f'reference/fixtures/adversarial/pairs/{name}.txt', lists_only=True)
    assert fact in str(raised.value)


@pytest.mark.parametrize('name, fact', [
    ('duplicate_pair', 'lines 2 and 3: the same pair'),
    ('mismatch_same_person', 'line 4: mismatched pair of one person'),
    ('same_image_twice', 'line 2: an image paired with itself'),
])
def test_an_odd_list_is_read_with_a_warning(shared, name, fact):
    with pytest.warns(DataFormatWarning) as warned:
        assert len(open_eval(shared / f'reference/fixtures/adversarial/pairs/{name}.txt', lists_only=True)) == 8
    assert any(fact in str(warning.message) for warning in warned)


@pytest.mark.parametrize('content', [
    '\r\n'.join(CLEAN).encode(),
    b'\xef\xbb\xbf' + '\n'.join(CLEAN).encode(),
    '\n'.join(CLEAN).replace('\t', '  ').encode(),
    '\n\n'.join([*CLEAN, '']).encode(),
], ids=['crlf', 'byte order mark', 'blanks', 'blank lines'])
def test_line_ends_and_blanks_do_not_matter(listed, content):
    clean, other = listed(CLEAN), listed(content)
    assert other.paths == clean.paths
    assert other.pairs.tolist() == clean.pairs.tolist()
    assert other.fold.tolist() == [0] * 4 + [1] * 4


@pytest.mark.parametrize('lines, fact', [
    (with_line(3, 'B\tone\t2'), 'line 3: image number one'),
    (with_line(3, 'B\t1'), 'line 3: 2 fields in a block of matched pairs'),
    (with_line(3, 'A\t1\tB\t2'), 'line 3: 4 fields in a block of matched pairs'),
    (with_line(5, 'A\t1\t2'), 'line 5: 3 fields in a block of mismatched pairs'),
    (with_line(4, 'A\t1\t../B\t1'), "line 4: name '../B'"),
    (with_line(4, 'A\t1\t..\t1'), "line 4: name '..'"),
    (with_line(4, 'A\t1\tC:\\B\t1'), "line 4: name 'C:\\\\B'"),
    (with_line(1, '0\t2'), 'line 1: header 0 2'),
    (CLEAN[1:], "line 1: no header but 'A 1 2'"),
])
def test_a_broken_line_is_named(listed, lines, fact):
    with pytest.raises(DataFormatError) as raised:
        listed(lines)
    assert fact in str(raised.value)


def test_what_is_not_utf8_is_refused_with_its_line(listed):
    with pytest.raises(DataFormatError, match='line 2: byte 0xe9 is not UTF-8'):
        listed(b'1\nJos\xe9\t1\t2\nA\t1\tB\t1\n')


def test_a_pair_in_two_folds_is_reported(listed):
    with pytest.warns(DataFormatWarning, match='lines 2 and 6: the same pair in two folds'):
        listed(with_line(6, 'A\t2\t1'))


def test_a_list_without_header_needs_the_size_of_its_folds(listed):
    assert listed(CLEAN[1:], fold_size=2).fold.tolist() == [0] * 4 + [1] * 4
    with pytest.raises(DataFormatError, match='8 pairs: expected folds of 3 matched'):
        listed(CLEAN[1:], fold_size=3)


def test_missing_images_are_counted_and_named(tree):
    root = tree('A/A_0001.jpg', 'A/A_0002.jpg', 'B/B_0001.jpg')
    (root / 'pairs.txt').write_text('\n'.join(CLEAN))
    with pytest.raises(DataFormatError, match=r'3 of 6 images are missing: A/A_0003\.jpg, B/B_0002\.jpg, B/B_0003\.jpg$'):
        open_eval(root)


def test_images_may_be_png_and_lie_elsewhere(tree, tmp_path):
    root = tree('A/A_0001.jpg', 'A/A_0002.jpg', 'B/B_0001.png')
    (tmp_path / 'list.txt').write_text('1\nA\t1\t2\nA\t1\tB\t1\n')
    pair_set = open_eval(tmp_path / 'list.txt', images=root, name='mine')
    assert pair_set.name == 'mine'
    assert pair_set.paths == [str(root / file) for file in ('A/A_0001.jpg', 'A/A_0002.jpg', 'B/B_0001.png')]

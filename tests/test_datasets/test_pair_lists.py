"""CFP, AgeDB, CALFW, CPLFW, XQLFW and RFW: pairs, folds, people, and every way in which a list can be wrong."""
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval
from mmface.datasets.formats import EVALS

quiet = pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')


@pytest.fixture(scope='module')
def sets(shared):
    return shared / 'reference/fixtures/pairs'


@pytest.fixture(scope='module')
def expected(sets):
    return json.loads((sets / 'expected.json').read_text())


@pytest.fixture
def written(tmp_path):
    """``written(name, text or bytes)``: a list on its own."""

    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def listed(pair_set, names: list[str]) -> list:
    return [[names[a], names[b], same] for (a, b), same in zip(pair_set.pairs, pair_set.same.tolist(), strict=True)]


def tenths(count: int) -> list[int]:
    return [fold for fold in range(10) for _ in range(count // 10)]


@quiet
@pytest.mark.parametrize('name', ['calfw', 'cplfw', 'agedb'])
def test_pairs_and_folds_are_those_of_the_protocol(sets, expected, name):
    reader, want = EVALS.open(sets / name), expected[name]
    names = [Path(file).stem if name == 'agedb' else file for file in reader.files]
    pairs = want['pairs'] if name == 'agedb' else want['protocol_order']
    assert listed(reader.set, names) == [[want['rows'][a], want['rows'][b], same] for a, b, same in pairs]
    assert reader.set.fold.tolist() == tenths(len(pairs))
    assert reader.set.name == {'agedb': 'agedb_30'}.get(name, name)
    assert names == sorted(names, key=want['rows'].index)
    alike = [reader.set.identities[a] == reader.set.identities[b] for a, b in reader.set.pairs]
    assert alike == reader.set.same.tolist()


@quiet
@pytest.mark.parametrize('protocol, images', [('FF', 48), ('FP', 72)])
def test_cfp_has_the_pairs_of_its_splits(sets, expected, protocol, images):
    reader, want = EVALS.open(sets / 'cfp', protocol=protocol), expected['cfp'][protocol]
    assert listed(reader.set, list(range(images))) == want['pair_rows']
    assert reader.set.fold.tolist() == tenths(want['pairs'])
    assert (len(reader), reader.set.name) == (images, f'cfp_{protocol.lower()}')
    assert reader.files[0] == '001/frontal/01.jpg'
    assert reader.set.identities == [file[:3] for file in reader.files]
    assert reader.read(images - 1) == (sets / 'cfp/Data/Images' / reader.files[-1]).read_bytes()


def test_xqlfw_is_read_like_lfw_and_takes_aligned_images_where_it_has_both(sets, tmp_path):
    root = tmp_path / 'xqlfw'
    shutil.copytree(sets / 'xqlfw', root)
    assert open_eval(root).paths[0] == str(root / 'lfw_original_imgs_min_qual0.85variant11/Pers_0/Pers_0_0001.jpg')
    shutil.copytree(root / 'lfw_original_imgs_min_qual0.85variant11', root / 'xqlfw_aligned_112')
    pair_set = open_eval(root)
    assert pair_set.paths[0] == str(root / 'xqlfw_aligned_112/Pers_0/Pers_0_0001.jpg')
    assert pair_set.name == open_eval(root / 'xqlfw_pairs.txt').name == 'xqlfw'
    assert (pair_set.fold.tolist(), pair_set.same.tolist()) == ([0] * 4 + [1] * 4, [True, True, False, False] * 2)


@pytest.mark.parametrize('path', [
    'lfw', 'lfw/pairs.txt', 'cfp', 'agedb', 'agedb/04_FINAL_protocol_30_years.mat', 'calfw', 'calfw/pairs_CALFW.txt', 'cplfw',
    'cplfw/pairs_CPLFW.txt', 'xqlfw', 'xqlfw/xqlfw_pairs.txt'
])
def test_each_set_is_recognised_by_one_format_only(sets, path):
    fitting = [name for name, reader in EVALS.readers.items() if reader.sniff(sets / path)]
    assert fitting == [path.split('/')[0]]


def test_lists_of_calfw_and_cplfw_are_told_apart_by_their_tokens(written):
    folds = ''.join(f'A_000{at}.jpg {token}\n' for at, token in ((1, 1), (2, 1), (3, 2), (4, 2)))
    assert open_eval(written('list.txt', folds), lists_only=True).name == 'calfw'
    assert open_eval(written('list.txt', folds.replace('2\n', '1\n')), lists_only=True).name == 'cplfw'


LISTS = {  # name and content of a list -> the facts that must be named
    ('pairs_CALFW.txt', 'A_1.jpg 1\nA_2.jpg 1\nB_1.jpg 0\n'): '3 lines, expected an even number',
    ('pairs_CALFW.txt', '\nA_1.jpg 1\n\nA_2.jpg 0\n'): 'lines 2 and 4: tokens 1 and 0',
    ('pairs_CALFW.txt', 'A_1.jpg 0\nB_2.jpg 0\n'): 'no matched pair of fold 1',
    ('pairs_CALFW.txt', 'A_1.jpg 3\nA_2.jpg 3\nA_1.jpg 1\nA_3.jpg 1\n'): 'no matched pair of fold 2',
    ('pairs_CALFW.txt', 'A_1.jpg 1\n../A_2.jpg 1\n'): "line 2: name '../A_2.jpg'",
    ('pairs_CALFW.txt', 'A_1.jpg 1\nC:\\A_2.jpg 1\n'): "line 2: name 'C:\\\\A_2.jpg'",
    ('pairs_CPLFW.txt', 'A_1.jpg 1\nA_2.jpg one\n'): "line 2: 'A_2.jpg one'",
    ('pairs_CPLFW.txt', 'A_1.jpg 1\nA_2.jpg\n'): "line 2: 'A_2.jpg'",
    ('pairs_CPLFW.txt', 'A_1.jpg 0\nB_2.jpg 0\nA_1.jpg 2\nA_3.jpg 2\n'): 'line 3: token 2',
    ('pairs_CPLFW.txt', b'A_1.jpg 1\nA_2\xff.jpg 1\n'): 'line 2: byte 0xff is not UTF-8',
    ('pairs_CPLFW.txt', '<!DOCTYPE html>'): 'a web page, not the file',
    ('same.txt', '3,5\n0,5\n'): 'line 2: number 0: numbers begin at 1',
    ('same.txt', '1,-5\n'): 'line 1: number -5',
    ('FP/01/same.txt', '1,2000\n1,2001\n'): 'line 2: number 2001, list P has 2000',
    ('same.txt', '1,2000\n1,2001\n'): 'a single list of CFP: open the folder',
    ('Pair_list_F.txt', '1 ../Data/Images/001/frontal/01.jpg\n3 ../Data/Images/001/frontal/02.jpg\n'): 'line 2: number 3, expected 2',
    ('Pair_list_F.txt', '1 ../Data/Images/001/frontal/01.jpg\n'): 'a single list of CFP: open the folder',
    ('Pair_list_F.txt', '1 ../Data/../../frontal/01.jpg\n'): "line 1: name '..'",
    ('Pair_list_F.txt', '1 /home/me/001/frontal/01.jpg\n'): "line 1: name ''",
}


@pytest.mark.parametrize('name, content', LISTS)
def test_a_broken_list_is_refused_with_the_facts(written, name, content):
    path = written(name, content)
    with pytest.raises(DataFormatError) as raised:
        open_eval(path, 'cplfw' if 'CPLFW' in name else 'auto', lists_only=True)
    for fact in (path.name, LISTS[name, content]):
        assert fact in str(raised.value)


@pytest.mark.parametrize('name, facts', [
    ('calfw_odd_lines', ['3 lines, expected an even number']),
    ('calfw_tokens_differ', ['lines 1 and 2', 'tokens 1 and 0']),
    ('cfp_index_large', ['line 1', 'number 99999, list F has 5000']),
    ('cfp_index_zero', ['line 1', 'number 0', 'numbers begin at 1']),
    ('cfp_list_gap', ['line 2', 'number 3, expected 2']),
])
def test_the_broken_lists_of_the_fixtures_are_refused_with_the_facts(shared, name, facts):
    with pytest.raises(DataFormatError) as raised:
        open_eval(shared / f'reference/fixtures/adversarial/pairs/{name}.txt')
    for fact in [f'{name}.txt', *facts]:
        assert fact in str(raised.value)


@pytest.mark.parametrize('change', [
    lambda data: b'\xef\xbb\xbf' + data,
    lambda data: data.replace(b'\n', b'\r\n'),
    lambda data: data.replace(b' ', b'\t'),
    lambda data: data.replace(b'\n', b' \n\n'),
], ids=['byte order mark', 'CRLF', 'tabs', 'blank lines'])
@pytest.mark.parametrize('name', ['calfw', 'cplfw'])
def test_line_ends_and_blanks_do_not_matter(sets, written, name, change):
    clean = sets / f'{name}/pairs_{name.upper()}.txt'
    other = open_eval(written(clean.name, change(clean.read_bytes())), lists_only=True)
    assert other.pairs.tolist() == open_eval(clean).pairs.tolist()


@pytest.mark.parametrize('lines, facts', [
    ('A_1.jpg 1,A_1.jpg 1', 'line 1: an image paired with itself'),
    ('A_1.jpg 1,A_2.jpg 1,A_2.jpg 1,A_1.jpg 1', 'lines 1 and 3: the same pair'),
    ('A_1.jpg 1,A_2.jpg 1,A_3.jpg 0,A_4.jpg 0', 'line 3: mismatched pair of one person'),
    ('A_1.jpg 1,B_2.jpg 1', 'line 1: matched pair of two people'),
])
def test_an_odd_list_is_read_with_a_warning(written, lines, facts):
    with pytest.warns(DataFormatWarning, match=facts):
        open_eval(written('pairs_CPLFW.txt', lines.replace(',', '\n')), lists_only=True)


@pytest.fixture
def cfp(tmp_path):
    """A CFP of two people and two splits, whose files a test may change."""
    files = {
        'Protocol/Pair_list_F.txt': '1 ../Data/Images/001/frontal/01.jpg\n2 ../Data/Images/002/frontal/01.jpg\n',
        'Protocol/Pair_list_P.txt': '1 ../Data/Images/001/profile/01.jpg\r\n2 ../Data/Images/002/profile/01.jpg\r\n',
        'Data/Fiducials/001/frontal/01.txt': '1,2\n',
    }
    for fold in ('1', '02', '10'):
        files[f'Protocol/Split/FP/{fold}/same.txt'] = '1,1\n2,2'
        files[f'Protocol/Split/FP/{fold}/diff.txt'] = '1, 2\r\n2 ,1\n'
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@quiet
def test_splits_of_cfp_are_ordered_by_number(cfp):
    (cfp / 'Protocol/Split/FP/1/same.txt').write_text('2,2\n2,2\n')
    pair_set = open_eval(cfp)
    assert pair_set.fold.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert pair_set.pairs.tolist() == [[1, 3], [1, 3], [0, 3], [1, 2]] + [[0, 2], [1, 3], [0, 3], [1, 2]] * 2


@pytest.mark.parametrize('file, text, facts', [
    ('Split/FP/02/diff.txt', '1,2\n3,1\n', ['02/diff.txt', 'line 2', 'number 3, list F has 2']),
    ('Split/FP/02/diff.txt', '1,2\n2,3\n', ['02/diff.txt', 'line 2', 'number 3, list P has 2']),
    ('Split/FP/02/same.txt', '1,2,3\n', ['02/same.txt', 'line 1', "'1,2,3'"]),
    ('Split/FP/02/same.txt', '', ['02/same.txt', 'empty']),
    ('Pair_list_P.txt', '1 ../Data/Images/001/profile/01.jpg\n1 ../Data/Images/002/profile/01.jpg\n', ['line 2', 'number 1, expected 2']),
])
def test_a_broken_file_of_cfp_is_named_with_its_line(cfp, file, text, facts):
    (cfp / 'Protocol' / file).write_text(text)
    with pytest.raises(DataFormatError) as raised:
        open_eval(cfp)
    for fact in facts:
        assert fact in str(raised.value)


def test_what_cfp_lacks_is_named(cfp):
    with pytest.raises(ValueError, match='FF and FP'):
        open_eval(cfp, protocol='PP')
    with pytest.raises(DataFormatError, match=r'Split/FF: no splits'):
        open_eval(cfp, protocol='FF')
    (cfp / 'Protocol/Split/FP/02/diff.txt').unlink()
    with pytest.raises(DataFormatError, match=r'02/diff\.txt: no such file'):
        open_eval(cfp)


@quiet
@pytest.mark.parametrize('name, gone', [
    ('lfw', 'lfw/Ai_Sugiyama/Ai_Sugiyama_0001.jpg'),
    ('cfp', 'Data/Images/003/frontal/02.jpg'),
    ('agedb', '03_Protocol_Images/4_PersonA_62_m.jpg'),
    ('calfw', 'aligned images/NameE_Family_0004.jpg'),
    ('cplfw', 'aligned images/NameE_Family_0004.jpg'),
])
def test_missing_images_are_counted_and_named_and_never_skipped(sets, tmp_path, name, gone):
    shutil.copytree(sets / name, tmp_path / name)
    whole = len(open_eval(tmp_path / name))
    (tmp_path / name / gone).unlink()
    with pytest.raises(DataFormatError, match=rf'1 of [0-9]+ images are missing: .*{Path(gone).name}$'):
        open_eval(tmp_path / name)
    assert len(open_eval(tmp_path / name, lists_only=True)) == whole


@quiet
def test_a_list_without_images_is_opened_with_a_warning_and_says_where_to_put_them(sets, tmp_path):
    shutil.copy(sets / 'calfw/pairs_CALFW.txt', tmp_path)
    with pytest.warns(DataFormatWarning, match='none of the 45 images is beside the list: say where they are with images='):
        reader = EVALS.open(tmp_path)
    with pytest.raises(DataFormatError, match=r'NameA_Family_0001.jpg: no such image'):
        reader.read(0)
    assert len(open_eval(tmp_path, images=sets / 'calfw/aligned images')) == 80
    with pytest.raises(DataFormatError, match='45 of 45 images are missing'):
        open_eval(tmp_path, images=tmp_path)


@pytest.fixture
def agedb(tmp_path):
    """``agedb(splits)``: the protocol of five years; a split is a list of ``(name, name, label)``."""

    def make(splits: list, file: str = '04_FINAL_protocol_5_years.mat') -> Path:
        cells = np.empty((len(splits), 1), object)
        for at, split in enumerate(splits):
            pairs = np.empty((2, len(split)), object)
            for row in range(2):
                pairs[row] = [{'name': pair[row], 'age': 30.0} for pair in split]
            cells[at, 0] = {'pairs': pairs, 'labels': np.array([[pair[2] for pair in split]], float)}
        savemat(tmp_path / file, {'splits': cells}, do_compression=True)
        return tmp_path / file

    return make


def test_agedb_keeps_the_order_and_the_splits_of_its_file(agedb):
    path = agedb([[('10_Al_B_30_m', '9_Al_B_35_m', 1), ('9_Al_B_35_m', '1_Cy_40_f', -1)], [('1_Cy_40_f', '10_Al_B_30_m', -1)]])
    pair_set = open_eval(path.parent, years=5, lists_only=True)
    assert [Path(image).name for image in pair_set.paths] == ['1_Cy_40_f.jpg', '9_Al_B_35_m.jpg', '10_Al_B_30_m.jpg']
    assert pair_set.pairs.tolist() == [[2, 1], [1, 0], [0, 2]]
    assert (pair_set.same.tolist(), pair_set.fold.tolist()) == ([True, False, False], [0, 0, 1])
    assert (pair_set.identities, pair_set.name) == (['Cy', 'Al_B', 'Al_B'], 'agedb_5')


@pytest.mark.parametrize('splits, fact', [
    ([[('1_A_3_m', '2_A_4_m', 1)], [('1_A_3_m', '2_A_4_m', 2)]], 'split 2 pair 1: label 2'),
    ([[('1_A_3_m', '../2_A_4_m', 1)]], "split 1 pair 1: name '../2_A_4_m'"),
    ([], 'no pairs'),
])
def test_a_broken_list_of_agedb_is_refused_with_split_and_pair(agedb, splits, fact):
    with pytest.raises(DataFormatError, match=fact):
        open_eval(agedb(splits), lists_only=True)


def test_what_is_no_list_of_agedb_is_refused(agedb, tmp_path):
    path = agedb([[('1_A_3_m', '2_A_4_m', 1)]])
    with pytest.raises(DataFormatError, match='0 lists of the protocol of 30 years'):
        open_eval(tmp_path)
    savemat(path, {'other': np.ones(3)})
    with pytest.raises(DataFormatError, match=r'splits.*other'):
        open_eval(path)
    savemat(path, {'splits': np.ones(3)})
    with pytest.raises(DataFormatError, match=r'split 1: .*expected pairs'):
        open_eval(path)
    path.write_bytes(path.read_bytes()[:150])
    with pytest.raises(DataFormatError, match=r'truncated|damaged'):
        open_eval(path)


RACES = ('African', 'Asian', 'Caucasian', 'Indian')


@pytest.fixture
def rfw(tree):
    """Four races with three people m.0, m.1, m.2, of two images each, and 40 pairs each in ten folds."""
    root = tree(*(f'data/{race}/m.{person}/m.{person}_000{at}.jpg' for race in RACES for person in range(3) for at in (1, 2)))
    for shift, race in enumerate(RACES):
        lines = []
        for fold in range(10):
            lines += [f'm.{(fold + at + shift) % 3}\t1\t2' for at in range(2)]
            lines += [f'm.{(fold + at + shift) % 3}\t1\tm.{(fold + at + shift + 1) % 3}\t2' for at in range(2)]
        path = root / f'txts/{race}/{race}_pairs.txt'
        path.parent.mkdir(parents=True)
        path.write_text('\n'.join(lines))
    return root


@quiet
def test_rfw_is_one_set_with_a_race_an_image_and_ten_folds_a_race(rfw):
    reader = EVALS.open(rfw)
    pair_set, at = reader.set, 0
    assert (len(pair_set), len(reader), pair_set.name) == (160, 24, 'rfw')
    for race in RACES:  # against the lines themselves
        for line, text in enumerate((rfw / f'txts/{race}/{race}_pairs.txt').read_text().splitlines()):
            fields = text.split('\t')
            second = fields if len(fields) == 3 else fields[1:]
            want = [f'{race}/{fields[0]}/{fields[0]}_000{fields[1]}.jpg', f'{race}/{second[-2 if len(fields) == 4 else 0]}']
            first, other = pair_set.pairs[at]
            assert reader.files[first] == want[0]
            assert reader.files[other].startswith(want[1])
            assert pair_set.groups[first] == pair_set.groups[other] == race
            assert (pair_set.same[at], pair_set.fold[at]) == (len(fields) == 3, line // 4)
            at += 1
    assert pair_set.identities == [file.rpartition('/')[0] for file in reader.files]
    assert reader.read(23) == (rfw / 'data' / reader.files[23]).read_bytes()


@quiet
def test_a_race_may_be_opened_alone(rfw):
    whole, one = open_eval(rfw), open_eval(rfw, race='Asian')
    chosen = [whole.groups[row] == 'Asian' for row in whole.pairs[:, 0]]
    assert one.name == 'rfw_asian'
    assert [[one.paths[row] for row in pair] for pair in one.pairs] == [[whole.paths[row] for row in pair] for pair in whole.pairs[chosen]]
    assert one.fold.tolist() == whole.fold[chosen].tolist()
    assert set(one.groups) == {'Asian'}


@quiet
def test_a_broken_rfw_is_refused(rfw):
    with pytest.raises(DataFormatError, match=r'no txts/Martian/Martian_pairs.txt: found the races: African, Asian, Caucasian, Indian'):
        open_eval(rfw, race='Martian')
    (rfw / 'data/Asian/m.0/m.0_0001.jpg').unlink()
    with pytest.raises(DataFormatError, match=r'1 of 24 images are missing: Asian/m\.0/m\.0_0001\.jpg'):
        open_eval(rfw)
    path = rfw / 'txts/Indian/Indian_pairs.txt'
    lines = path.read_text().splitlines()
    path.write_text('\n'.join([lines[2], *lines[1:]]))
    with pytest.raises(DataFormatError, match=r'Indian_pairs\.txt: line 1: 4 fields in a block of matched pairs'):
        open_eval(rfw)
    path.write_text('\n'.join(lines[:-1]))
    with pytest.raises(DataFormatError, match=r'Indian_pairs\.txt: 39 pairs: expected 10 folds'):
        open_eval(rfw)


def test_a_race_too_few_is_said(rfw):
    shutil.rmtree(rfw / 'txts/Indian')
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter('always')
        open_eval(rfw)
    assert any('races African, Asian, Caucasian: RFW has' in str(warning.message) for warning in warned)

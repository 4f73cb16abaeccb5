"""IJB-B and IJB-C: what the lists say, and what is said of broken ones."""
import json
import warnings

import numpy as np
import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval
from mmface.datasets.formats import EVALS

FACES = [('1.jpg', 1, 10, .91), ('2.jpg', 1, 10, .92), ('3.jpg', 2, 11, .93), ('4.jpg', 3, 12, .94)]
POINTS = '20.1 30.2 40.3 30.1 30.0 40.0 22.0 50.0 38.0 50.1'
HEADER = 'TEMPLATE_ID,SUBJECT_ID,FILENAME'
CLEAN = {
    'ijbc_face_tid_mid.txt': [f'{name} {template} {media}' for name, template, media, _ in FACES],
    'ijbc_name_5pts_score.txt': [f'{name} {POINTS} {score}' for name, _, _, score in FACES],
    'ijbc_template_pair_label.txt': ['1 2 1', '1 3 0'],
    'ijbc_1N_gallery_G1.csv': [HEADER, '1,100,img/1.jpg', '1,100,img/2.jpg'],
    'ijbc_1N_gallery_G2.csv': [HEADER, '2,200,img/3.jpg'],
    'ijbc_1N_probe_mixed.csv': [HEADER, '3,100,img/4.jpg'],
}
IDS, SCORES, PAIRS = 'ijbc_face_tid_mid.txt', 'ijbc_name_5pts_score.txt', 'ijbc_template_pair_label.txt'
G1, G2, PROBES = 'ijbc_1N_gallery_G1.csv', 'ijbc_1N_gallery_G2.csv', 'ijbc_1N_probe_mixed.csv'


@pytest.fixture
def opened(tmp_path):
    """``opened({file: lines})``: the small set with these lists in place of its own; None for no such file."""

    def make(changed=None, **options):
        meta = tmp_path / 'IJBC/meta'
        meta.mkdir(parents=True, exist_ok=True)
        for file, lines in {**CLEAN, **(changed or {})}.items():
            if lines is not None:
                (meta / file).write_text(''.join(f'{line}\n' for line in lines))
        return open_eval(tmp_path / 'IJBC', **dict(lists_only=True) | options)

    return make


def with_line(file: str, number: int, line: str) -> dict:
    return {file: [line if at == number else old for at, old in enumerate(CLEAN[file], 1)]}


def test_the_reference_set_is_what_its_lists_say(shared):
    root = shared / 'reference/fixtures/ijb/IJBC'
    expected = json.loads((root.parent / 'expected.json').read_text())['ijbc']
    found = open_eval(root)
    rows = [line.split() for line in (root / 'meta/ijbc_face_tid_mid.txt').read_text().splitlines()]
    faces = [line.split() for line in (root / 'meta/ijbc_name_5pts_score.txt').read_text().splitlines()]
    pairs = [list(map(int, line.split())) for line in (root / 'meta/ijbc_template_pair_label.txt').read_text().splitlines()]
    assert found.name == 'ijbc'
    assert found.paths == [str(root / 'loose_crop' / name) for name, *_ in rows]
    assert found.template.tolist() == [int(row[1]) for row in rows]
    assert found.media.tolist() == [int(row[2]) for row in rows]
    assert found.image.tolist() == list(range(len(rows)))
    assert found.landmarks.tolist() == [[[float(face[1 + 2 * point + axis]) for axis in (0, 1)] for point in range(5)] for face in faces]
    assert found.det_score.tolist() == [float(face[11]) for face in faces]
    assert found.pairs.tolist() == [pair[:2] for pair in pairs]
    assert found.same.tolist() == [pair[2] == 1 for pair in pairs]
    assert len(found.paths) == expected['images']
    assert np.unique(found.template).tolist() == expected['template_ids']
    assert len(set(zip(found.template.tolist(), found.media.tolist(), strict=True))) == expected['media']
    assert (len(found.pairs), found.same.sum()) == (expected['pairs'], expected['genuine_pairs'])


def test_galleries_and_probes_hold_each_template_once_with_its_person(shared):
    root = shared / 'reference/fixtures/ijb/IJBC'
    found = open_eval(root)
    for name, lists in ('G1', found.galleries), ('G2', found.galleries), ('mixed', found.probes):
        kind = 'gallery' if name[0] == 'G' else 'probe'
        lines = (root / f'meta/ijbc_1N_{kind}_{name}.csv').read_text().splitlines()[1:]
        person = dict(tuple(map(int, line.split(',')[:2])) for line in lines)
        assert lists[name].template.tolist() == list(person)
        assert lists[name].subject.tolist() == list(person.values())
    assert sorted(found.galleries) == ['G1', 'G2']
    assert list(found.probes) == ['mixed']


def test_every_damaged_reference_set_is_answered(shared):
    root = shared / 'reference/fixtures/adversarial'
    facts = dict(comma_separated='face_tid_mid.txt: line 1: 1 field: expected 3 blank-separated fields',
                 float_template='face_tid_mid.txt: line 1: template 1.5', gallery_subject_twice='subject 100 in G1 and G2',
                 nine_landmarks='name_5pts_score.txt: line 1: 11 fields: expected 12', row_order_differs='row 1: 1.jpg against 2.jpg',
                 score_nan='name_5pts_score.txt: line 1: score nan', score_zero='template 2 has weight 0: its norm would be 0',
                 template_two_subjects='G1.csv: line 4: template 1 has subjects 100 and 101',
                 template_without_media='ijbc_template_pair_label.txt: line 2: template 9 has no image')
    for name, expected in json.loads((root / 'expected.json').read_text())['ijb'].items():
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter('always')
            try:
                open_eval(root / 'ijb' / name, lists_only=True)
                answer = '; '.join(str(warning.message) for warning in warned)
                kind = 'warn' if warned else 'ok'
            except DataFormatError as error:
                kind, answer = 'error', str(error)
        assert (kind, facts.get(name, '') in answer) == (expected['kind'], True), (name, answer)


@pytest.mark.parametrize('changed, fact', [
    (with_line(PAIRS, 2, '1 3 2'), 'pair_label.txt: line 2: label 2: expected 1 for one person or 0'),
    (with_line(PAIRS, 2, '1 3 -1'), 'line 2: label -1'),
    (with_line(PAIRS, 2, '1 2 0'), 'lines 1 and 2: templates 1 and 2 with label 0 and with label 1'),
    (with_line(PAIRS, 2, '2 1 0'), 'lines 1 and 2: templates 2 and 1 with label 0 and with label 1'),
    ({PAIRS: ['1 2 1', '1 3 0', '1 2 1', '1 3 0', '3 1 1']}, 'lines 2 and 5: templates 1 and 3 with label 0 and with label 1'),
    (with_line(PAIRS, 1, '0 2 1'), 'line 1: template 0 has no image'),
    (with_line(PAIRS, 1, '1 2147483648 1'), 'line 1: template 2147483648 has no image'),
    ({PAIRS: []}, 'pair_label.txt: empty'),
    ({PAIRS: None}, 'pair_label.txt: no such file'),
    ({SCORES: CLEAN[SCORES][:3]}, 'score.txt: 3 rows: ijbc_face_tid_mid.txt has 4'),
    ({IDS: CLEAN[IDS][:3]}, 'score.txt: 4 rows: ijbc_face_tid_mid.txt has 3'),
    ({IDS: [CLEAN[IDS][at] for at in (0, 1, 3, 2)]}, 'row 3: 4.jpg against 3.jpg'),
    (with_line(IDS, 4, '../../4.jpg 3 12'), "image '../../4.jpg'"),
    (with_line(SCORES, 3, f'3.jpg {POINTS} inf'), 'line 3: score inf'),
    (with_line(SCORES, 3, f'3.jpg {POINTS} high'), 'line 3: score high'),
    ({G1: CLEAN[G1][1:]}, 'G1.csv: line 1: no header but 1'),
    ({G2: [HEADER, '2,200,a', '5,201,b', '2,202,c']}, 'G2.csv: line 4: template 2 has subjects 200 and 202'),
    ({PROBES: [HEADER, '3,1.5,img/4.jpg']}, 'mixed.csv: line 2: SUBJECT_ID 1.5'),
])
def test_a_broken_list_is_refused_with_its_line(opened, changed, fact):
    with pytest.raises(DataFormatError) as raised:
        opened(changed)
    assert fact in str(raised.value)


@pytest.mark.parametrize('changed, fact', [
    (with_line(SCORES, 2, f'2.jpg {"-1 " * 10}.5'), r'score\.txt: line 2: landmarks of -1: so in 1 lines; no face was found'),
    (with_line(SCORES, 2, f'2.jpg {POINTS} -0.5'), r'score\.txt: line 2: negative scores'),
    ({SCORES: [f'{name} {POINTS} {0 if at < 2 else .5}' for at, (name, *_) in enumerate(FACES)]},
     'template 1 has weight 0: its norm would be 0: 1 of 3 templates have'),
    ({PAIRS: ['1 2 1', '1 3 0', '2 1 1']}, 'lines 1 and 3: templates 1 and 2: 1 pairs are repeated'),
    ({PROBES: [HEADER, '3,100,a', '7,100,b']}, r'mixed\.csv: template 7 has no image: 1 of 2 templates have none'),
])
def test_an_odd_list_is_read_with_a_warning(opened, changed, fact):
    with pytest.warns(DataFormatWarning, match=fact):
        assert len(opened(changed).paths) == 4


def test_one_zero_score_in_a_template_is_no_reason_to_warn(opened):
    assert opened(with_line(SCORES, 1, f'1.jpg {POINTS} 0')).det_score.tolist() == [0, .92, .93, .94]


@pytest.mark.parametrize('ids', [(-5, 2**40, 7), (2**62, -2**62, 0)])
def test_template_ids_may_be_any_whole_numbers(opened, ids):
    renamed = {str(old): str(new) for old, new in enumerate(ids, 1)}
    found = opened({
        IDS: [f'{name} {renamed[str(template)]} {media}' for name, template, media, _ in FACES],
        PAIRS: [f'{ids[0]} {ids[1]} 1', f'{ids[0]} {ids[2]} 0'],
        G1: [HEADER, f'{ids[0]},100,a'], G2: [HEADER, f'{ids[1]},200,a'], PROBES: [HEADER, f'{ids[2]},999,a'],
    })
    assert found.template.tolist() == [ids[0], ids[0], ids[1], ids[2]]
    assert found.pairs.tolist() == [[ids[0], ids[1]], [ids[0], ids[2]]]
    assert found.probes['mixed'].subject.tolist() == [999]  # of neither gallery


def test_the_points_of_other_detectors_are_read_by_name(opened):
    box = [f'{name} 1 2 3 4 {score - .5:.2f} {POINTS}' for name, _, _, score in FACES]
    retina = [f'{name} {POINTS.replace("20.1", "21.5")} {score}' for name, _, _, score in FACES]
    lists = {'name_box_score_5pts.txt': box, 'ijbc_name_5pts_score_retina.txt': retina}
    plain, boxed, other = (opened(lists, points=points) for points in ('name_5pts_score', 'name_box_score_5pts', 'name_5pts_score_retina'))
    assert boxed.landmarks.tolist() == plain.landmarks.tolist()
    assert boxed.det_score.tolist() == [.41, .42, .43, .44]
    assert other.landmarks[:, 0, 0].tolist() == [21.5] * 4
    with pytest.raises(DataFormatError, match=r'name_points\.txt: no such file'):
        opened(lists, points='name_points')


def test_the_lists_of_ijbb_begin_with_ijbb(opened):
    lists = {file.replace('ijbc', 'ijbb').replace('_G', '_S'): lines for file, lines in CLEAN.items()}
    found = opened({**dict.fromkeys(CLEAN), **lists})
    assert found.name == 'ijbb'
    assert sorted(found.galleries) == ['S1', 'S2']


def test_a_set_without_the_lists_of_searches_has_pairs_only(opened):
    found = opened(dict.fromkeys((G1, G2, PROBES)))
    assert (len(found.pairs), found.galleries, found.probes) == (2, {}, {})


def test_crops_are_looked_for_where_they_should_be(opened, tmp_path, jpeg):
    with pytest.warns(DataFormatWarning, match='none of the 4 images is beside the list'):
        opened(lists_only=False)
    for folder, names in (('IJBC/loose_crop', '1234'), ('elsewhere', '14')):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f'{name}.jpg').write_bytes(jpeg(int(name)))
    assert opened(lists_only=False).paths[0] == str(tmp_path / 'IJBC/loose_crop/1.jpg')
    with pytest.raises(DataFormatError, match=r'elsewhere: 2 of 4 images are missing: 2\.jpg, 3\.jpg$'):
        opened(lists_only=False, images=tmp_path / 'elsewhere')
    reader = EVALS.open(tmp_path / 'IJBC/meta')
    assert (bytes(reader.read(2)), reader.where(2), len(reader)) == (jpeg(3), '3.jpg', 4)
    reader.files[2] = '5.jpg'
    with pytest.raises(DataFormatError, match=r'loose_crop: 5\.jpg: no such image'):
        reader.read(2)

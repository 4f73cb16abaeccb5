"""IJB-S: templates of people in videos and stills, with and without detected faces."""
import csv
import json
from pathlib import Path

import numpy as np
import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval

GALLERY = 'TEMPLATE_ID,SUBJECT_ID,FILENAME,FACE_X'
CLEAN = {
    'cs6_metadata.csv': ['SUBJECT_ID,FILENAME,FRAME_NUM', '1,videos/30.mp4,1', '1,videos/30.mp4,2', '2,videos/30.mp4,1',
                         '2,videos/31.mp4,1', '1,videos/40.mp4,1', '2,videos/41.mp4,1', '1,img/5.jpg,', '2,img/6.jpg,', '2,img/7.jpg,'],
    'galleries/cs6_surveillance_to_single_g1.csv': [GALLERY, '9,1,img/5.jpg,0'],
    'galleries/cs6_surveillance_to_single_g2.csv': [GALLERY, '9,2,img/6.jpg,0'],
    'galleries/cs6_surveillance_to_booking_g1.csv': [GALLERY, '9,1,img/5.jpg,0'],
    'galleries/cs6_surveillance_to_booking_g2.csv': [GALLERY, '9,2,img/6.jpg,0', '9,2,img/7.jpg,0'],
    'galleries/cs6_surveillance_to_surveillance_g1.csv': [GALLERY, '9,1,videos/40.mp4,0'],
    'galleries/cs6_surveillance_to_surveillance_g2.csv': [GALLERY, '9,2,videos/41.mp4,0'],
    'cs6_surveillance_to_single-booking_probe.csv': ['FILENAME', 'videos/30.mp4', 'videos/31.mp4'],
    'cs6_surveillance_to_surveillance_probe.csv': ['FILENAME', 'videos/30.mp4'],
    'cs6_uav_to_single-booking_probe.csv': ['FILENAME', 'videos/31.mp4', 'img/7.jpg'],
    'image_list.txt': ['2/videos_31_1.jpg', '1/img_5.jpg', '2/img_6.jpg', '2/img_7.jpg', '1/videos_30_2.jpg', '1/videos_30_1.jpg',
                       '2/videos_41_9.jpg'],
}


@pytest.fixture
def opened(tmp_path):

    def make(changed=None, **options):
        for file, lines in {**CLEAN, **(changed or {})}.items():
            path = tmp_path / 'IJBS' / file
            path.parent.mkdir(parents=True, exist_ok=True)
            if lines is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(''.join(f'{line}\n' for line in lines))
        return open_eval(tmp_path / 'IJBS', **dict(lists_only=True) | options)

    return make


def faces(found, template: int) -> list[str]:
    """The faces of a template, relative to ``aligned``."""
    return [found.paths[row].partition('/aligned/')[2] for row in found.image[found.template == template]]


def read(path: Path) -> list[list[str]]:
    with path.open() as file:
        return list(csv.reader(file))[1:]


def of(names: list[str], subject: str, file: str) -> list[str]:
    """The faces of a person in a video or still, by their names."""
    kind, number = file.split('.', maxsplit=1)[0].split('/')
    return [name for name in names if name.startswith((f'{subject}/{kind}_{number}_', f'{subject}/{kind}_{number}.'))]


def test_the_reference_templates_are_those_of_a_walk_through_the_lists(shared):
    root = shared / 'reference/fixtures/ijb/IJBS'
    names = (root / 'image_list.txt').read_text().split()
    met = list(dict.fromkeys((row[0], row[1]) for row in read(root / 'cs6_metadata.csv')))
    found = open_eval(root)
    assert found.paths == [str(root / 'aligned' / name) for name in names]
    for kind in ('single', 'booking', 'surveillance'):
        for part in (1, 2):
            lines = read(root / f'galleries/cs6_surveillance_to_{kind}_g{part}.csv')
            gallery = found.galleries[f'{kind}_g{part}']
            assert gallery.subject.tolist() == list(dict.fromkeys(int(line[1]) for line in lines))
            for template, subject in zip(gallery.template, gallery.subject.astype(str), strict=True):
                assert faces(found, template) == [name for line in lines if line[1] == subject for name in of(names, subject, line[2])]
    probes = dict(surveillance_to_still='surveillance_to_single-booking', surveillance_to_surveillance='surveillance_to_surveillance',
                  uav='uav_to_single-booking')
    for name, file in probes.items():
        wanted = [(subject, one) for one, in read(root / f'cs6_{file}_probe.csv') for subject, seen in met if seen == one]
        assert found.probes[name].subject.tolist() == [int(subject) for subject, _ in wanted]
        assert [faces(found, template) for template in found.probes[name].template] == [of(names, *pair) for pair in wanted]
    people = list(dict.fromkeys(found.probes['surveillance_to_surveillance'].subject.tolist()))
    assert found.probes['multiview'].subject.tolist() == people
    assert [sorted(faces(found, template)) for template in found.probes['multiview'].template] == [
        sorted(name for name in names if name.startswith(f'{subject}/videos_')) for subject in people]


def test_the_reference_has_the_expected_numbers_of_probes(shared):
    root = shared / 'reference/fixtures/ijb'
    expected = json.loads((root / 'expected.json').read_text())['ijbs']
    found = open_eval(root / 'IJBS')
    probes = dict(surveillance_to_single='surveillance_to_still', surveillance_to_booking='surveillance_to_still',
                  multiview_surveillance_to_booking='multiview', surveillance_to_surveillance='surveillance_to_surveillance',
                  uav_surveillance_to_booking='uav')
    assert {name: len(found.probes[probes[name]]) for name in expected['protocols']} == {
        name: protocol['probes'] for name, protocol in expected['protocols'].items()}
    assert len(found.paths) == expected['images']


def test_a_template_without_a_face_has_an_id_and_no_row(opened):
    found = opened()
    still = found.probes['surveillance_to_still']
    assert still.subject.tolist() == [1, 2, 2]
    assert [faces(found, template) for template in still.template] == [
        ['1/videos_30_2.jpg', '1/videos_30_1.jpg'], [], ['2/videos_31_1.jpg']]
    assert faces(found, found.galleries['surveillance_g1'].template[0]) == []


def test_a_multiview_template_has_all_videos_of_the_person_and_a_medium_for_each(opened):
    found = opened()
    multiview = found.probes['multiview']
    assert multiview.subject.tolist() == [1, 2]
    assert faces(found, multiview.template[1]) == ['2/videos_31_1.jpg', '2/videos_41_9.jpg']
    assert len(set(found.media[found.template == multiview.template[1]].tolist())) == 2
    assert len(set(found.media[found.template == multiview.template[0]].tolist())) == 1


def test_the_numbers_of_templates_in_the_lists_do_not_matter(opened):
    found = opened()
    booking = found.galleries['booking_g2']
    assert faces(found, booking.template[0]) == ['2/img_6.jpg', '2/img_7.jpg']
    assert len(np.unique(np.concatenate([found.galleries[f'{kind}_g2'].template for kind in ('single', 'booking', 'surveillance')]))) == 3


def test_without_a_list_the_faces_of_the_folder_are_taken_in_order(opened, tmp_path, tree):
    names = ('aligned/1/img_5.jpg', 'aligned/1/videos_30_1.jpg', 'aligned/2/videos_30_7.JPG')
    root = tree(*names, 'aligned/1/.DS_Store', 'aligned/readme.txt') / 'aligned'
    assert opened({'image_list.txt': None}, images=root).paths == [f'{root}/{name.removeprefix("aligned/")}' for name in names]
    with pytest.raises(DataFormatError, match=r'aligned: no such folder: give the folder of the faces with images='):
        opened({'image_list.txt': None})
    (root / '2/face.jpg').write_bytes(b'')
    with pytest.raises(DataFormatError, match=r'2/face\.jpg: an unexpected name: expected <subject>/videos_<video>_<frame>\.jpg'):
        opened({'image_list.txt': None}, images=root)


def test_listed_faces_must_be_there(opened, tree):
    root = tree(*(name for name in CLEAN['image_list.txt'] if 'img' in name))
    with pytest.raises(DataFormatError, match=r'4 of 7 images are missing: 2/videos_31_1\.jpg, '):
        opened(images=root, lists_only=False)
    with pytest.warns(DataFormatWarning, match='none of the 7 images is beside the list'):
        opened(lists_only=False)


@pytest.mark.parametrize('changed, fact', [
    ({'galleries/cs6_surveillance_to_single_g2.csv': [GALLERY, '9,1,img/6.jpg,0']}, 'subject 1 in single_g1 and single_g2'),
    ({'galleries/cs6_surveillance_to_booking_g1.csv': [GALLERY, '9,1,img/5.jpg,0', '9,1,still 6,0']},
     'booking_g1.csv: line 3: file still 6: expected videos/<number>.mp4'),
    ({'galleries/cs6_surveillance_to_booking_g1.csv': [GALLERY, '9,one,img/5.jpg,0']}, 'booking_g1.csv: line 2: SUBJECT_ID one'),
    ({'cs6_metadata.csv': ['SUBJECT_ID,FILENAME', '1,videos/30.mp4', '1']}, 'cs6_metadata.csv: line 3: 1 field'),
    ({'cs6_uav_to_single-booking_probe.csv': None}, 'cs6_uav_to_single-booking_probe.csv: no such file'),
    ({'image_list.txt': ['7/img_5.jpg']}, 'no face belongs to any template'),
])
def test_a_broken_list_is_refused(opened, changed, fact):
    with pytest.raises(DataFormatError) as raised:
        opened(changed)
    assert fact in str(raised.value)


def test_a_probe_in_which_the_metadata_know_nobody_is_reported(opened):
    with pytest.warns(DataFormatWarning, match='the metadata know nobody in videos_77: nor in 1 of 2 videos and stills'):
        assert len(opened({'cs6_uav_to_single-booking_probe.csv': ['FILENAME', 'videos/77.mp4', 'img/7.jpg']}).probes['uav']) == 1

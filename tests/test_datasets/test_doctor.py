"""The doctor: what it says of sets made for the purpose. The sets of the reference material are in test_doctor_fixtures."""
import json
import pickle
import shutil
import warnings
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from mmface.datasets import open_records
from mmface.datasets.doctor import Finding, examine
from mmface.datasets.doctor.comparisons import check_comparisons
from mmface.datasets.doctor.image_facts import look_at_images
from mmface.datasets.formats.recordio.writer import RecordIOWriter, pack_record
from mmface.structures import SearchSet


def said(diagnosis, check: str, kind: str | None = None) -> list[str]:
    """What one check found, without the path."""
    return [': '.join(filter(None, (finding.where, finding.value))) for finding in diagnosis.findings
            if finding.check == check and kind in (None, finding.kind)]


def face(seed: int, red: int, blue: int, size: tuple[int, int] = (112, 112)) -> bytes:
    """A picture of one colour with some noise."""
    pixels = np.random.default_rng(seed).integers(-10, 11, (*size, 3)) + np.array([blue, 100, red])
    return cv2.imencode('.png', pixels.clip(0, 255).astype(np.uint8))[1].tobytes()


@pytest.fixture
def write(tmp_path):
    """``write([(label, image), ...])``: a training set with keys from 1."""

    def make(images: list[tuple[float, bytes]], folder=tmp_path):
        folder.mkdir(exist_ok=True)
        with RecordIOWriter(folder / 'train.rec') as writer:
            for key, (label, image) in enumerate(images, 1):
                writer.write(key, pack_record(label, key, image))
        return folder / 'train.rec'

    return make


def test_a_sound_set_has_counts_and_no_finding_that_matters(small_rec):
    diagnosis = examine(small_rec)
    assert (diagnosis.format, diagnosis.num_images, diagnosis.num_classes, diagnosis.trainable) == ('recordio', 15, 5, True)
    assert [finding for finding in diagnosis.findings if finding.kind != 'info'] == []


def test_every_record_that_cannot_be_read_is_listed(write, jpeg):
    broken = {2: b'', 3: b'<html>', 5: jpeg(5)[:500]}
    diagnosis = examine(write([(0, broken.get(at, jpeg(at))) for at in range(7)]))
    found = said(diagnosis, 'image', 'error')
    assert [text.split(':')[0] for text in found] == ['record 3', 'record 4', 'record 6']
    assert [fact in text for fact, text in zip(['no image bytes', 'not an image', 'truncated'], found, strict=True)] == [True] * 3
    assert not diagnosis.trainable


def test_every_bad_label_and_frame_is_listed_beside_the_images_that_are_left(write, jpeg):
    path = write([(1, jpeg(0)), (float('nan'), jpeg(1)), (-1, jpeg(2)), (2.5, jpeg(3)), (0, jpeg(4)[:700])])
    with path.open('ab') as file:
        file.write(b'garbage!')
    with path.with_suffix('.idx').open('a') as file:
        file.write(f'9\t{path.stat().st_size - 8}\n')
    diagnosis = examine(path)
    assert [text.split(' is ')[0] for text in said(diagnosis, 'structure', 'error') if 'label' in text] == [
        'record 2: label nan', 'record 3: label -1', 'record 4: label 2.5']
    assert any('record 9: ' in text for text in said(diagnosis, 'structure', 'error'))
    assert [text.split(':')[0] for text in said(diagnosis, 'image', 'error')] == ['record 5']


def test_gaps_and_identities_with_one_image_are_counted(write, jpeg):
    diagnosis = examine(write([(0, jpeg(0)), (0, jpeg(1)), (3, jpeg(2))]))
    assert said(diagnosis, 'labels', 'info') == ['class 1, 2: 2 of 4 classes have no image', 'class 3: 1 of 4 classes have one image']
    assert diagnosis.trainable


def test_classes_with_names_are_called_by_them(tree):
    assert said(examine(tree('ada/1.jpg', 'ada/2.jpg', 'bob/1.jpg')), 'labels') == ['class bob: 1 of 2 classes have one image']


def test_a_set_of_one_class_is_warned_of(write, jpeg):
    assert said(examine(write([(0, jpeg(0)), (0, jpeg(1))])), 'labels', 'warn') == ['all images are of one class']


def test_the_same_image_twice_is_found_within_an_identity_and_across(write, jpeg):
    images = [(0, jpeg(0)), (1, jpeg(1)), (0, jpeg(0)), (2, jpeg(2)), (3, jpeg(1)), (3, jpeg(3)), (1, jpeg(1))]
    assert said(examine(write(images)), 'duplicates', 'warn') == [
        'record 1, record 3: 2 times the same image of identity 0',
        'record 2, record 5, record 7: 3 times the same image, of the identities 1, 3']


def test_images_of_one_hash_that_differ_are_no_duplicates(write, jpeg, monkeypatch):
    def colliding(reader, processes):
        facts = look_at_images(reader, processes)
        return facts._replace(digest=np.zeros_like(facts.digest))

    monkeypatch.setattr('mmface.datasets.doctor.examination.look_at_images', colliding)
    assert said(examine(write([(0, jpeg(0)), (0, jpeg(1)), (1, jpeg(0))])), 'duplicates') == [
        'record 1, record 3: 2 times the same image, of the identities 0, 1']


def test_a_second_size_is_an_error_with_its_first_place(write, jpeg):
    diagnosis = examine(write([(0, jpeg(0)), (0, jpeg(1, (112, 96))), (1, jpeg(2)), (1, jpeg(3, (112, 96))), (1, jpeg(4))]))
    assert said(diagnosis, 'size', 'error') == ['record 2: 112 x 96, in 2 images, where 112 x 112 is the size of 3 (height x width)']
    assert not diagnosis.trainable


def test_another_size_than_the_usual_is_a_remark_and_than_the_asked_for_an_error(write, jpeg):
    path = write([(0, jpeg(0, (144, 144))), (1, jpeg(1, (144, 144)))])
    assert said(examine(path), 'size', 'info') == ['all images are 144 x 144 (height x width)']
    assert examine(path, size=(144, 144)).trainable
    assert said(examine(path, size=(112, 112)), 'size', 'error') == [
        'record 1: 144 x 144, in 2 images, where 112 x 112 are expected (height x width)']


def test_a_tiny_image_is_a_warning_and_loose_photos_may_have_any_size(tmp_path, jpeg):
    for name, size in (('a.jpg', (1, 1)), ('b.jpg', (90, 40)), ('c.jpg', (10, 300))):
        (tmp_path / name).write_bytes(jpeg(0, size))
    diagnosis = examine(tmp_path)
    assert (diagnosis.format, diagnosis.num_images, diagnosis.num_classes, diagnosis.trainable) == ('images', 3, None, True)
    assert said(diagnosis, 'size') == ['a.jpg: 1 x 1 pixels', '3 sizes from 1 x 1 to 90 x 300 (height x width)']


def test_a_folder_of_crops_has_one_size(tmp_path, jpeg):
    for at, size in enumerate([(112, 112)] * 3 + [(112, 96)]):
        (tmp_path / f'{at}.jpg').write_bytes(jpeg(at, size))
    assert said(examine(tmp_path), 'size', 'error') == ['3.jpg: 112 x 96, in 1 images, where 112 x 112 is the size of 3 (height x width)']


@pytest.mark.parametrize('red, blue, kind, words', [
    (180, 90, 'info', 'colours are in the usual order (confidence 100%)'),
    (90, 180, 'warn', 'red and blue are most likely swapped (confidence 100%)'),
])
def test_swapped_colours_are_guessed_from_the_middle_of_the_images(write, red, blue, kind, words):
    diagnosis = examine(write([(at % 3, face(at, red, blue)) for at in range(40)]))
    (text, ) = said(diagnosis, 'colour', kind)
    assert text.startswith(words)
    assert diagnosis.trainable


def test_no_guess_is_made_of_grey_few_or_contradictory_images(write, tmp_path):
    grey = cv2.imencode('.png', np.full((112, 112), 90, np.uint8))[1].tobytes()
    assert said(examine(write([(at, grey + bytes([at])) for at in range(40)], tmp_path / 'grey')), 'colour') == []
    assert said(examine(write([(at, face(at, 90, 180)) for at in range(20)], tmp_path / 'few')), 'colour') == []
    mixed = [(at, face(at, *((90, 180) if at % 3 else (180, 90)))) for at in range(40)]
    assert said(examine(write(mixed, tmp_path / 'mixed')), 'colour', 'info')[0].startswith('the order of colours cannot be told')


def test_several_processes_find_what_one_does(write, jpeg, monkeypatch):
    monkeypatch.setattr('mmface.datasets.doctor.image_facts._CHUNK', 3)
    monkeypatch.setattr('mmface.datasets.doctor.image_facts._FEW', 3)
    path = write([(at % 5, jpeg(at) if at % 4 else b'') for at in range(20)])
    alone, together = (look_at_images(open_records(path), processes) for processes in (1, 2))
    for one, other in zip(alone[:4], together[:4], strict=True):
        np.testing.assert_array_equal(one, other)
    assert [str(fault) for fault in alone.faults] == [str(fault) for fault in together.faults]
    assert len(alone.faults) == 5


def lfw_like(folder, jpeg, pairs: str, people: str = 'AB'):
    for person in people:
        (folder / person).mkdir()
        for number in range(1, 4):
            (folder / f'{person}/{person}_{number:04d}.jpg').write_bytes(jpeg(ord(person) * 10 + number))
    (folder / 'pairs.txt').write_text(pairs)
    return folder


PAIRS = '2\t1\nA\t1\t2\nA\t1\tB\t1\nB\t1\t2\nA\t2\tB\t3\n'


def test_pairs_are_counted_and_their_images_looked_at(tmp_path, jpeg):
    folder = lfw_like(tmp_path, jpeg, PAIRS)
    (folder / 'B/B_0003.jpg').write_bytes(b'')
    diagnosis = examine(folder)
    assert (diagnosis.format, diagnosis.num_images, diagnosis.num_classes) == ('lfw', 5, 2)
    assert said(diagnosis, 'comparisons') == ['4 pairs, 2 of them of one person, in 2 folds']
    assert [text.split(':')[0] for text in said(diagnosis, 'image', 'error')] == ['B/B_0003.jpg']
    assert said(diagnosis, 'duplicates') == []


def test_a_list_alone_needs_no_images_but_those_asked_for_must_be_there(tmp_path, jpeg):
    (tmp_path / 'pairs.txt').write_text(PAIRS)
    (tmp_path / 'images').mkdir()
    assert examine(tmp_path / 'pairs.txt').trainable
    assert [finding.kind for finding in examine(tmp_path / 'pairs.txt', lists_only=True).findings] == ['info']
    (missing, ) = said(examine(tmp_path / 'pairs.txt', images=tmp_path / 'images'), 'structure', 'error')
    assert missing.endswith('5 of 5 images are missing')


@pytest.mark.parametrize('same, words', [
    ([True] * 20, ['no impostor pair']),
    ([False] * 20, ['no genuine pair']),
    ([True] * 3 + [False] * 17, ['9 folds with one kind of pairs, such as fold 0']),
    ([True, False] * 10, []),
])
def test_folds_of_one_kind_of_pairs_and_sets_of_one_kind_are_warned_of(tmp_path, jpeg, same, words):
    (tmp_path / 'a.bin').write_bytes(pickle.dumps(([jpeg(at) for at in range(40)], same)))
    assert said(examine(tmp_path / 'a.bin'), 'comparisons', 'warn') == words


def test_every_bad_line_of_a_list_and_every_bad_image_of_a_pack_is_listed(tmp_path, jpeg):
    (tmp_path / 'pairs.txt').write_text('2\t2\nA\t0\t2\nB\t1\t2\nA\t1\tB\t1\t9\nA\t2\tB\t2\nA\t1\t3\nB\tx\t3\nA\t3\tB\t3\nA\t1\tB\t3\n')
    found = said(examine(tmp_path / 'pairs.txt'), 'structure', 'error')
    assert [text.split(':')[0] for text in found] == ['line 2', 'line 4', 'line 7']
    (tmp_path / 'a.bin').write_bytes(pickle.dumps(([jpeg(0), 'text', jpeg(1), b'', None, jpeg(2)], [True, False, True])))
    found = said(examine(tmp_path / 'a.bin'), 'structure', 'error')
    assert [text.split(':')[0] for text in found] == ['image 1 (pair 0)', 'image 3 (pair 1)', 'image 4 (pair 2)']


def test_probes_without_mate_are_warned_of(monkeypatch):
    search_set = SearchSet('s', ['p', 'q', 'g'], np.array([0, 1]), np.array([2]), np.array([], int), np.array([1, 2, 1]))
    reader = SimpleNamespace(path='s', set=search_set)
    assert [finding.value for finding in check_comparisons(reader) if finding.kind == 'warn'] == ['1 probes have no mate in the gallery']


def test_findings_are_plain_for_json_with_errors_first(write, jpeg):
    diagnosis = examine(write([(0, jpeg(0)), (0, jpeg(0)), (4, b'')]))
    found = json.loads(json.dumps(diagnosis.to_dict()))
    assert set(found) == {'format', 'num_images', 'num_classes', 'findings', 'trainable'}
    assert all({'kind', 'path', 'where', 'value', 'message', 'hint'} <= set(finding) for finding in found['findings'])
    kinds = [finding['kind'] for finding in found['findings']]
    assert kinds == sorted(kinds, key=['error', 'warn', 'info'].index)
    assert {'error', 'warn', 'info'} == set(kinds)


def test_the_text_shows_ten_of_a_kind_and_counts_the_rest(write):
    text = str(examine(write([(0, b'') for _ in range(13)])))
    assert text.count('no image bytes') == 10
    assert 'error image       ... and 3 more' in text
    assert text.splitlines()[-1].startswith('training or evaluation would fail: 13 errors, ')


@pytest.mark.parametrize('name, content, words', [
    ('a.mp4', b'\0' * 100, 'not recognised as a data set: known formats are: '),
    ('a.txt', b' \n', 'empty'),
])
def test_what_no_reader_knows_is_an_error(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    diagnosis = examine(tmp_path / name)
    assert diagnosis.format == 'unknown'
    assert words in diagnosis.findings[0].message
    assert not diagnosis.trainable


def test_a_lost_file_is_a_finding_where_something_belongs_to_it(small_rec, tmp_path):
    shutil.copy(small_rec.with_suffix('.idx'), tmp_path)
    diagnosis = examine(tmp_path / 'train.rec')
    assert diagnosis.findings[0].message == f'{tmp_path}/train.rec: no such file: there is train.idx that belongs to it'
    assert not diagnosis.trainable


def test_wrong_usage_is_no_finding(tmp_path, small_rec):
    with pytest.raises(FileNotFoundError, match='nothing: no such file or folder'):
        examine(tmp_path / 'nothing')
    with pytest.raises(ValueError, match="unknown format 'lmbd'; known are: auto, "):
        examine(small_rec, format='lmbd')
    with pytest.raises(ValueError, match='has its images inside'):
        examine(small_rec, images=tmp_path)


def test_what_readers_warn_of_that_is_not_about_the_data_is_passed_on(small_rec, monkeypatch):
    monkeypatch.setattr('mmface.datasets.formats.recordio.reader.RecordIO.where',
                        lambda self, at: warnings.warn('odd', UserWarning, stacklevel=1))
    monkeypatch.setattr('mmface.datasets.formats.recordio.reader.RecordIO._refuse_float64_labels', lambda self: self.where(0))
    with pytest.warns(UserWarning, match='odd'):
        diagnosis = examine(small_rec)
    assert 'odd' not in str(diagnosis)


def test_a_finding_says_all_it_knows_in_its_message():
    assert Finding('error', 'image', 'a.rec', 'record 1', 'no bytes').message == 'a.rec: record 1: no bytes'

"""The gallery tool, with a network worked out by hand: the embedding is the mean colour minus 128."""
import json

import cv2
import numpy as np
import pytest

POINT = dict(
    far_target=1e-3, far=8e-4, similarity=.9, tar=.9, tar_ci95=[.8, 1.], genuine=100, impostors=5000, false_accepts=4, resolvable=True)


@pytest.fixture
def run(tool, capsys):

    def call(*args):
        code = tool('gallery')([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def photo(tmp_path):
    """Writes a crop of one colour."""

    def write(name, *rgb):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(tmp_path / name), np.full((4, 6, 3), rgb[::-1], np.uint8))
        return tmp_path / name

    return write


@pytest.fixture
def people(photo, tmp_path):
    photo('people/red/1.png', 228, 128, 128)
    photo('people/red/2.png', 228, 138, 128)
    photo('people/blue/1.png', 128, 128, 228)
    return tmp_path / 'people'


def test_enrolled_people_are_found_and_the_others_are_not(run, colour_model, people, photo, tmp_path):
    model, gallery = colour_model([POINT]), tmp_path / 'g'
    code, out, err = run('enroll', gallery, model, people, '--aligned')
    assert (code, err) == (0, '')
    assert 'enrolled    red' in out
    code, out, _ = run('search', gallery, model, photo('x.png', 218, 128, 128), photo('y.png', 128, 228, 128), '--aligned', '--json')
    found = json.loads(out)
    assert code == 0
    assert [answer['found'] for answer in found['answers']] == ['red', None]
    assert found['answers'][0]['matches'] == [dict(person='red', similarity=1.0), dict(person='blue', similarity=0.0)]
    assert (found['far'], found['photos_in_gallery']) == (8e-4, 3)
    assert found['false_alarm_rate'] == pytest.approx(1 - (1 - 8e-4)**3)
    assert 'of a search among 3 photos about 0.0024' in run('search', gallery, model, photo('x.png', 218, 128, 128), '--aligned')[1]


def test_without_a_threshold_there_is_no_decision(run, colour_model, people, photo, tmp_path):
    model, gallery = colour_model(), tmp_path / 'g'
    run('enroll', gallery, model, people, '--aligned')
    code, out, _ = run('search', gallery, model, photo('x.png', 218, 128, 128), '--aligned')
    assert code == 0
    assert 'so there is no decision' in out
    assert json.loads(run('search', gallery, model, tmp_path / 'x.png', '--aligned', '--json')[1])['answers'][0]['found'] is None


def test_people_are_listed_with_their_dates_and_forgotten(run, colour_model, people, tmp_path):
    model, gallery = colour_model(), tmp_path / 'g'
    run('enroll', gallery, model, people / 'red/1.png', '--person', 'Ada', '--aligned', '--expires', '2999-01-31')
    run('enroll', gallery, model, people / 'blue/1.png', '--person', 'Bo', '--aligned', '--expires', '0', '--json')
    code, out, _ = run('info', gallery)
    assert code == 0
    assert 'until 2999-01-31T00:00:00Z' in out
    assert run('remove', gallery, 'Ada')[:2] == (0, 'removed     1 photos\n')
    assert json.loads(run('info', gallery, '--json')[1])['people'] == {}


def test_a_photo_that_cannot_be_used_stops_or_is_counted(run, colour_model, people, tmp_path):
    model, gallery = colour_model(), tmp_path / 'g'
    (people / 'red/3.png').write_bytes(b'no picture')
    code, _, err = run('enroll', gallery, model, people, '--aligned')
    assert code == 2
    assert '3.png' in err
    assert not gallery.exists()
    code, out, _ = run('enroll', gallery, model, people, '--aligned', '--on-error', 'skip')
    assert code == 3
    assert 'skipped     ' in out
    assert json.loads(run('info', gallery, '--json')[1])['photos'] == 3


@pytest.mark.parametrize(('arguments', 'words'), [
    (('search', '{0}/none', '{0}/colour.onnx', '{0}/x.png', '--aligned'), 'no such gallery'),
    (('remove', '{0}/none', 'Ada'), 'no such gallery'),
    (('enroll', '{0}/g', '{0}/colour.onnx', '{0}/x.png', '--aligned', '--expires', 'soon'), "got 'soon'"),
    (('enroll', '{0}/g', '{0}/colour.onnx', '{0}/empty', '--aligned'), 'no image in this folder'),
    (('enroll', '{0}/no/such/g', '{0}/colour.onnx', '{0}/x.png', '--aligned'), 'there is no folder'),
])
def test_what_is_wrong_is_said_with_exit_code_2(run, colour_model, photo, tmp_path, arguments, words):
    colour_model()
    photo('x.png', 1, 2, 3)
    (tmp_path / 'empty').mkdir()
    code, out, err = run(*(argument.format(tmp_path) for argument in arguments))
    assert (code, out) == (2, '')
    assert words in err


def test_remove_wants_names_or_expired(run, tmp_path):
    with pytest.raises(SystemExit):
        run('remove', tmp_path / 'g')

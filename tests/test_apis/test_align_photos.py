"""A tree of photos becomes a tree of crops: with any detector, all or nothing, and going on where it was."""
import json
import os
import sys

import cv2
import numpy as np
import pytest

from mmface.apis import align_photos as module
from mmface.apis.align_photos import JOURNAL, REPORT, AlignSettings, align_photos
from mmface.apis.photo import read_photo
from mmface.functional.geometry import align_face, landmark_template

DETECTOR = '''
import numpy as np
POINTS = np.array([[64, 82], [117, 84], [91, 112], [70, 146], [113, 147]], float)
SEEN = []

def by_colour(image):
    """Red photos show a face, green ones two, others none; the second is larger and lies to the right."""
    SEEN.append(image.shape)
    red, green, _ = image.mean((0, 1))
    if max(red, green) < 60:
        return None
    return POINTS if red > green else np.stack([POINTS, POINTS * 1.2 + (150, 0)])

def nonsense(image):
    return np.zeros((3, 2))

def flat(image):
    return np.full((5, 2), 7.)
'''
EXIF = b'\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0'


@pytest.fixture
def detectors(tmp_path, monkeypatch):
    (tmp_path / 'lib').mkdir()
    (tmp_path / 'lib/some_detector.py').write_text(DETECTOR)
    monkeypatch.syspath_prepend(tmp_path / 'lib')
    yield lambda: sys.modules['some_detector'].SEEN
    sys.modules.pop('some_detector', None)


def photo(path, bgr, size=(200, 400)):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = np.full((*size, 3), bgr, np.uint8)
    image[:, ::7] //= 2
    cv2.imwrite(str(path), image)
    return path


@pytest.fixture
def photos(tmp_path):
    root = tmp_path / 'photos'
    photo(root / 'Ada/1.jpg', (0, 0, 200))
    photo(root / 'Ada/2.png', (0, 200, 0))
    photo(root / 'Bo/x/none.jpg', (200, 0, 0))
    (root / 'Bo/page.jpg').write_bytes(b'<html>')
    (root / 'Bo/new.HEIC').write_bytes(b'\0\0\0\x18ftypheic\0\0\0\0mif1')
    (root / 'Bo/.hidden.jpg').write_bytes(b'')
    (root / 'notes.txt').write_text('no photo')
    return root


def settings(**changes) -> AlignSettings:
    return AlignSettings(**{'detector': 'some_detector:by_colour', 'suffix': '.png', **changes})


def test_crops_lie_where_the_photos_lay_and_the_report_says_what_became_of_the_others(photos, tmp_path, detectors):
    out = tmp_path / 'out'
    report = align_photos(photos, out, settings())
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob('*') if path.is_file()) == sorted(
        ['Ada/1.png', 'Ada/2.png', JOURNAL, REPORT])
    assert report == json.loads((out / REPORT).read_text())
    assert report['counts'] == dict(photos=5, aligned=2, several_faces_taken=1, unreadable=2, no_face=1)
    assert {(entry['photo'], entry['reason']) for entry in report['skipped']} == {
        ('Bo/new.HEIC', 'unreadable'), ('Bo/page.jpg', 'unreadable'), ('Bo/x/none.jpg', 'no_face')}
    assert 'HEIC' in next(entry['message'] for entry in report['skipped'] if 'HEIC' in entry['photo'])
    assert report['several'] == [dict(photo='Ada/2.png', faces=2)]
    assert report['settings']['choice'] == 'central'
    points = sys.modules['some_detector'].POINTS
    assert np.array_equal(read_photo(out / 'Ada/1.png'), align_face(read_photo(photos / 'Ada/1.jpg'), points))


@pytest.mark.parametrize('choice, moved', [('central', False), ('largest', True), ('only', None)])
def test_which_of_several_faces_is_taken_is_a_setting(photos, tmp_path, detectors, choice, moved):
    photo(photos / 'Ada/2.png', (0, 200, 0), (200, 200))  # its middle is now at the first face
    report = align_photos(photos, tmp_path / 'out', settings(choice=choice))
    if moved is None:
        assert report['counts']['several_faces'] == 1
        assert not (tmp_path / 'out/Ada/2.png').exists()
        return
    points = sys.modules['some_detector'].POINTS
    expected = align_face(read_photo(photos / 'Ada/2.png'), points * 1.2 + (150, 0) if moved else points)
    assert np.array_equal(read_photo(tmp_path / 'out/Ada/2.png'), expected)


def test_size_template_and_jpeg_are_settings(photos, tmp_path, detectors):
    align_photos(photos, tmp_path / 'out', settings(size=(144, 112), suffix='.jpg'))
    crop, points = read_photo(tmp_path / 'out/Ada/1.jpg'), sys.modules['some_detector'].POINTS
    expected = align_face(read_photo(photos / 'Ada/1.jpg'), points, (144, 112))
    assert crop.shape == expected.shape == (144, 112, 3)
    assert np.abs(crop.astype(int) - expected).mean() < 12
    assert landmark_template((144, 112)).shape == (5, 2)


def test_a_photo_is_turned_upright_first(photos, tmp_path, detectors):
    data = (photos / 'Ada/1.jpg').read_bytes()
    (photos / 'Ada/1.jpg').write_bytes(data[:2] + EXIF + data[2:])
    align_photos(photos, tmp_path / 'out', settings())
    assert (400, 200, 3) in detectors()


def test_an_interrupted_run_goes_on_with_what_is_left(photos, tmp_path, detectors, monkeypatch):
    out, original, written = tmp_path / 'out', module._write, []

    def killed(path, image):
        if written:
            raise KeyboardInterrupt
        written.append(path)
        original(path, image)

    monkeypatch.setattr(module, '_write', killed)
    with pytest.raises(KeyboardInterrupt):
        align_photos(photos, out, settings())
    monkeypatch.undo()
    monkeypatch.syspath_prepend(tmp_path / 'lib')
    assert not (out / REPORT).exists()
    with (out / JOURNAL).open('a') as journal:
        journal.write('{"photo": "Ada/2.png", "sta')  # cut when the process was killed
    detectors().clear()
    resumed = align_photos(photos, out, settings())
    assert len(detectors()) == 2, 'Ada/2.png and none.jpg; Ada/1.jpg is not looked at again'
    assert resumed == align_photos(photos, tmp_path / 'at_once', settings())
    assert (out / 'Ada/1.png').read_bytes() == (tmp_path / 'at_once/Ada/1.png').read_bytes()


def test_what_has_changed_or_is_gone_is_done_again_and_nothing_else(photos, tmp_path, detectors):
    out = tmp_path / 'out'
    align_photos(photos, out, settings())
    detectors().clear()
    (out / 'Ada/2.png').unlink()
    photo(photos / 'Bo/x/none.jpg', (0, 0, 180))
    os.utime(photos / 'Bo/x/none.jpg', ns=(1, 1))
    photo(photos / 'New/1.jpg', (0, 0, 190))
    report = align_photos(photos, out, settings())
    assert len(detectors()) == 3
    assert report['counts'] == dict(photos=6, aligned=4, several_faces_taken=1, unreadable=2)


def test_no_half_written_crop_bears_its_final_name(photos, tmp_path, detectors, monkeypatch):
    monkeypatch.setattr(os, 'fsync', lambda _: (_ for _ in ()).throw(OSError(28, 'No space left on device')))
    with pytest.raises(OSError, match='No space'):
        align_photos(photos, tmp_path / 'out', settings())
    assert [path for path in (tmp_path / 'out').rglob('*') if path.is_file() and path.name != JOURNAL] == []


@pytest.mark.parametrize('spoil, words', [
    (lambda photos, out: photo(photos / 'Ada/1.png', (0, 0, 200)), r'Ada/1\.jpg and Ada/1\.png would become one crop'),
    (lambda photos, out: align_photos(photos, out, settings(size=(56, 56))), r'made otherwise: size \[56, 56\] then, \[112, 112\] now'),
], ids=['two photos', 'two sizes'])
def test_what_would_mix_crops_is_refused(photos, tmp_path, detectors, spoil, words):
    spoil(photos, tmp_path / 'out')
    with pytest.raises(ValueError, match=words):
        align_photos(photos, tmp_path / 'out', settings())


def test_other_wrong_input_is_refused(photos, tmp_path, detectors):
    with pytest.raises(ValueError, match='lies inside'):
        align_photos(photos, photos / 'crops', settings())
    (tmp_path / 'empty').mkdir()
    with pytest.raises(ValueError, match='no photo in this folder'):
        align_photos(tmp_path / 'empty', tmp_path / 'out', settings())
    for detector, words in [('mtcnn', "expected 'yunet' or 'module:function'"), ('no_such_module:f', 'PYTHONPATH'),
                            ('some_detector:f', "no attribute 'f'")]:
        with pytest.raises(ValueError, match=words):
            align_photos(photos, tmp_path / 'out', settings(detector=detector))
    with pytest.raises(ValueError, match=r'some_detector:nonsense must return five points .* got \[1, 3, 2\]'):
        align_photos(photos, tmp_path / 'out', settings(detector='some_detector:nonsense'))
    report = align_photos(photos, tmp_path / 'flat', settings(detector='some_detector:flat'))
    assert report['counts']['implausible_landmarks'] == 3


def test_the_tool_says_how_it_went(photos, tmp_path, detectors, tool, capsys):
    main = tool('dataset_converters/align')
    arguments = [str(photos), str(tmp_path / 'out'), '--detector', 'some_detector:by_colour', '--workers', '1', '--png']
    assert main(arguments) == 3
    out, err = capsys.readouterr()
    assert 'no face' in out
    assert 'none.jpg: no face found' in err
    assert main([*arguments, '--size', '56', '56']) == 2
    assert 'made otherwise' in capsys.readouterr().err
    for name in ('Bo/x/none.jpg', 'Bo/page.jpg', 'Bo/new.HEIC'):
        (photos / name).unlink()
    assert main(arguments) == 0


@pytest.mark.slow
def test_on_real_photos_several_processes_find_every_face_and_agree_with_one(shared, tmp_path):
    real = AlignSettings(detector_file=str(shared / 'models/yunet.onnx'), suffix='.png')
    one, two = (align_photos(shared / 'data/photos', tmp_path / str(workers), real, workers) for workers in (1, 2))
    assert one == two
    assert one['counts']['aligned'] == 36
    for path in (tmp_path / '1').rglob('*.png'):
        assert path.read_bytes() == (tmp_path / '2' / path.relative_to(tmp_path / '1')).read_bytes()
    entries = [json.loads(line) for line in (tmp_path / '1' / JOURNAL).read_text().splitlines()[1:]]
    assert np.median([entry['residual'] for entry in entries]) < 4

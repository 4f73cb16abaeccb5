"""Two photos, one question: with a network worked out by hand, and with a real one on real faces."""
import json

import cv2
import numpy as np
import pytest

from mmface.apis import FaceCrop, FaceCropper, FaceDetector, OnnxEmbedder, compare_faces, face_detector
from mmface.apis.photo import PhotoError, read_photo

IMAGENET = dict(mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375), color='RGB')
FOREIGN = ['--mean', '123.675', '116.28', '103.53', '--std', '58.395', '57.12', '57.375', '--color', 'RGB']


@pytest.fixture
def crop(tmp_path):
    """Writes a 4 x 6 image of one colour."""

    def write(name, *rgb, shape=(4, 6)):
        cv2.imwrite(str(tmp_path / name), np.full((*shape, 3), rgb[::-1], np.uint8))
        return str(tmp_path / name)

    return write


@pytest.fixture
def run(tool, capsys):

    def call(*args):
        code = tool('verify')([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call


# Mean colours minus 128: (40, 0, 30) and (0, 0, 50) have the cosine 30 / 50.
def test_similarity_threshold_and_decision_are_printed(run, colour_model, crop):
    photos = crop('a.png', 168, 128, 158), crop('b.png', 128, 128, 178)
    code, out, _ = run(colour_model(), *photos, '--aligned', '--threshold', .6)
    assert code == 0
    assert 'similarity  0.6000' in out
    assert 'threshold   0.6000  (given by --threshold)' in out
    assert 'same person' in out
    assert 'not a probability' in out
    code, out, _ = run(colour_model(), *photos, '--aligned', '--threshold', .61)
    assert code == 0
    assert 'different people' in out


def test_the_threshold_of_the_file_is_used_and_named(run, colour_model, crop):
    model = colour_model(thresholds=[dict(far_target=1e-3, similarity=.5), dict(far_target=1e-4, similarity=.7)])
    photos = crop('a.png', 168, 128, 158), crop('b.png', 128, 128, 178)
    code, out, _ = run(model, *photos, '--aligned', '--far', 1e-4)
    assert code == 0
    assert '0.7000  (in the model file, for a false accept rate of 0.0001)' in out
    assert 'different people' in out
    code, _, err = run(model, *photos, '--aligned')
    assert code == 2
    assert 'choose with --far' in err


def test_without_a_threshold_there_is_a_similarity_and_no_decision(run, colour_model, crop):
    photos = crop('a.png', 168, 128, 158), crop('b.png', 168, 128, 158)
    code, out, _ = run(colour_model(), *photos, '--aligned')
    assert code == 0
    assert 'similarity  1.0000' in out
    assert 'threshold   none' in out
    assert 'decision    none' in out
    code, out, _ = run(colour_model(), *photos, '--aligned', '--json')
    assert (json.loads(out)['same'], json.loads(out)['threshold']) == (None, None)


def test_json_has_the_same_numbers(run, colour_model, crop):
    code, out, _ = run(colour_model(), crop('a.png', 168, 128, 158), crop('b.png', 128, 128, 178), '--aligned', '--threshold', .5, '--json')
    result = json.loads(out)
    assert code == 0
    assert result['similarity'] == pytest.approx(.6)
    assert (result['threshold'], result['same']) == (.5, True)
    assert [photo['aligned'] for photo in result['photos']] == [True, True]


def test_a_crop_of_another_size_is_refused_not_resized(run, colour_model, crop):
    code, _, err = run(colour_model(), crop('a.png', 1, 2, 3), crop('b.png', 1, 2, 3, shape=(6, 4)), '--aligned')
    assert code == 2
    assert 'b.png: is 6 x 4 (height x width), the model eats aligned crops of 4 x 6' in err


def test_an_embedding_without_direction_is_refused(run, colour_model, crop):
    code, _, err = run(colour_model(), crop('a.png', 128, 128, 128), crop('b.png', 1, 2, 3), '--aligned')
    assert code == 2
    assert 'norm 0' in err


@pytest.mark.parametrize('content, words', [(None, 'No such file'), (b'', 'empty file'), (b'junk', 'not an image')])
def test_an_unreadable_photo_is_said_by_name(run, colour_model, crop, tmp_path, content, words):
    if content is not None:
        (tmp_path / 'b.png').write_bytes(content)
    code, _, err = run(colour_model(), crop('a.png', 1, 2, 3), tmp_path / 'b.png', '--aligned')
    assert code == 2
    assert f'{tmp_path / "b.png"}: ' in err
    assert words in err
    code, out, _ = run(colour_model(), crop('a.png', 1, 2, 3), tmp_path / 'b.png', '--aligned', '--json')
    assert code == 2
    assert words in json.loads(out)['error']


def test_a_missing_model_or_bad_usage_is_2(run, tmp_path, crop):
    code, _, err = run(tmp_path / 'none.onnx', crop('a.png', 1, 2, 3), crop('b.png', 1, 2, 3), '--aligned')
    assert code == 2
    assert 'none.onnx' in err
    with pytest.raises(SystemExit) as exit_:
        run(tmp_path / 'none.onnx', 'only-one.png')
    assert exit_.value.code == 2


def test_offline_the_missing_detector_is_said_with_the_way_out(run, colour_model, crop, cache, monkeypatch):
    monkeypatch.setattr(face_detector, 'YUNET_URL', 'http://127.0.0.1:9/yunet.onnx')
    code, _, err = run(colour_model(), crop('a.png', 1, 2, 3), crop('b.png', 1, 2, 3))
    assert code == 2
    assert '--detector PATH' in err


@pytest.fixture(scope='module')
def faces(shared):
    return sorted((shared / 'data/photos').glob('*/*.jpg'))


@pytest.fixture(scope='module')
def embedder(shared):
    return OnnxEmbedder(shared / 'models/mobilefacenet.onnx', threads=1, **IMAGENET)


@pytest.fixture(scope='module')
def cropper(yunet):
    return FaceCropper((112, 112), 'arcface', FaceDetector(yunet), 'largest')


def test_on_real_faces_genuine_pairs_are_more_alike_than_impostors(faces, embedder, cropper):
    crops = [cropper(path) for path in faces]
    embeddings = embedder.embed(np.stack([crop.image for crop in crops])).astype(np.float64)
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    first, second = np.triu_indices(len(faces), 1)
    similarity = (unit @ unit.T)[first, second]
    same = np.array([faces[i].parent == faces[j].parent for i, j in zip(first, second, strict=True)])
    assert (similarity[same] > similarity[~same].max()).sum() >= 32  # of 36; the crops that come with the photos give 33
    assert (similarity[same][:, None] > similarity[~same]).mean() > .97
    pair = compare_faces(embedder, crops[0], crops[-1])
    assert pair.similarity == pytest.approx(unit[0] @ unit[-1], abs=1e-6)


def test_the_tool_finds_aligns_and_compares_real_photos(run, shared, faces, yunet):
    model = shared / 'models/mobilefacenet.onnx'
    code, out, err = run(model, faces[0], faces[1], '--detector', yunet, *FOREIGN, '--threshold', .35, '--json')
    result = json.loads(out)
    assert (code, err, result['same']) == (0, '', True)
    assert [photo['faces'] for photo in result['photos']] == [1, 1]
    assert all(photo['residual'] < 6 for photo in result['photos'])
    code, out, _ = run(model, faces[0], faces[-1], '--detector', yunet, *FOREIGN, '--threshold', .35)
    assert code == 0
    assert 'different people' in out
    assert 'detector score 0.9' in out


def test_a_photo_on_its_side_is_turned_as_its_exif_says(faces, cropper, embedder, tmp_path):
    lying = np.ascontiguousarray(np.rot90(cv2.imread(str(faces[0]))))  # as a camera stores it: its orientation is then 6
    data = cv2.imencode('.jpg', lying)[1].tobytes()
    exif = b'\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0'
    (tmp_path / 'turned.jpg').write_bytes(data[:2] + exif + data[2:])
    assert compare_faces(embedder, cropper(faces[0]), cropper(tmp_path / 'turned.jpg')).similarity > .95


def test_no_face_and_several_faces_are_said_plainly(run, shared, faces, yunet, crop, tmp_path):
    model = shared / 'models/mobilefacenet.onnx'
    code, _, err = run(model, faces[0], crop('grey.png', 90, 90, 90, shape=(200, 200)), '--detector', yunet, *FOREIGN)
    assert code == 2
    assert 'grey.png: no face found' in err
    two = np.hstack([cv2.imread(str(faces[0])), cv2.resize(cv2.imread(str(faces[6])), (200, 250))])
    cv2.imwrite(str(tmp_path / 'two.png'), two)
    code, _, err = run(model, faces[0], tmp_path / 'two.png', '--detector', yunet, *FOREIGN)
    assert code == 2
    assert 'two.png: 2 faces found' in err
    assert '--largest' in err
    code, out, _ = run(model, faces[0], tmp_path / 'two.png', '--detector', yunet, *FOREIGN, '--largest', '--json')
    assert code == 0
    assert json.loads(out)['photos'][1]['faces'] == 2
    assert json.loads(out)['similarity'] > .9


def test_landmarks_that_are_no_face_are_refused(faces):

    class Confused:

        def detect(self, image):
            return [face_detector.DetectedFace((0, 0, 90, 90), np.array([[9., 0], [0, 0], [5, 5], [9, 9], [0, 9]]), .9)]

    with pytest.raises(PhotoError, match='do not look like a face'):
        FaceCropper((112, 112), 'arcface', Confused())(faces[0])


def test_a_ready_crop_is_taken_as_it_is(crop):
    path = crop('a.png', 1, 2, 3)
    taken = FaceCropper((4, 6), 'arcface', None)(path)
    assert isinstance(taken, FaceCrop)
    np.testing.assert_array_equal(taken.image, read_photo(path))


def test_thresholds_come_from_a_file_of_this_network_only(run, colour_model, crop, tmp_path):
    from mmface.evaluation import write_thresholds
    model, photos = colour_model(), (crop('a.png', 168, 128, 158), crop('b.png', 128, 128, 178))
    point = dict(far_target=1e-2, far=0.01, similarity=.55, tar=.9, tar_ci95=[.8, .95], genuine=100, impostors=100, false_accepts=1,
                 resolvable=True)
    record = dict(schema=1, model_id=OnnxEmbedder(model).model_id, protocol_hash='0' * 64, set='toy', score='cosine',
                  rule='accept if s >= t', thresholds=[point])
    write_thresholds(record, tmp_path / 'threshold.json')
    code, out, _ = run(model, *photos, '--aligned', '--thresholds', tmp_path / 'threshold.json')
    assert code == 0
    assert f'0.5500  (in {tmp_path}/threshold.json, for a false accept rate of 0.01)' in out
    assert 'same person' in out
    write_thresholds(record | dict(model_id='1' * 64), tmp_path / 'other.json')
    code, _, err = run(model, *photos, '--aligned', '--thresholds', tmp_path / 'other.json')
    assert code == 2
    assert 'a threshold holds for no other network' in err


# -- lists of pairs


@pytest.fixture
def pairs(crop, tmp_path):
    """Two pairs that can be compared and one that cannot."""
    crop('a.png', 168, 128, 158), crop('b.png', 128, 128, 178)
    (tmp_path / 'bad.png').write_bytes(b'junk')
    (tmp_path / 'pairs.csv').write_text('a.png,b.png\n\n"a.png", a.png\nbad.png,b.png\n')
    return tmp_path / 'pairs.csv'


def test_pairs_of_a_list_give_what_each_alone_gives(run, colour_model, pairs):
    model = colour_model()
    code, out, _ = run(model, '--pairs', pairs, '--aligned', '--threshold', .61, '--on-error', 'skip', '--json')
    found = json.loads(out)
    assert code == 3
    assert [pair['similarity'] for pair in found['pairs']] == pytest.approx([.6, 1.])
    assert [pair['same'] for pair in found['pairs']] == [False, True]
    assert found['pairs'][0]['photos'][1]['path'] == str(pairs.parent / 'b.png')
    alone = json.loads(run(model, pairs.parent / 'a.png', pairs.parent / 'b.png', '--aligned', '--threshold', .61, '--json')[1])
    assert alone == found['pairs'][0] | {key: found[key] for key in ('model_id', 'runs_on')}
    (skipped, ) = found['skipped']
    assert skipped['pair'] == [str(pairs.parent / name) for name in ('bad.png', 'b.png')]
    assert 'bad.png: not an image' in skipped['problem']


def test_the_table_counts_what_was_skipped_and_without_skip_nothing_is_compared(run, colour_model, pairs):
    code, out, _ = run(colour_model(), '--pairs', pairs, '--aligned', '--on-error', 'skip')
    assert code == 3
    assert 'pairs       2 compared, 1 skipped' in out
    assert f'0.6000  none              {pairs.parent / "a.png"}  {pairs.parent / "b.png"}' in out
    code, out, err = run(colour_model(), '--pairs', pairs, '--aligned')
    assert (code, out) == (2, '')
    assert 'bad.png: not an image' in err


def test_a_photo_is_read_once_however_many_pairs_it_is_in(colour_model, pairs, crop):
    from mmface.apis.verify import compare_pairs
    read = []

    class Counting(FaceCropper):

        def __call__(self, path):
            read.append(path)
            return super().__call__(path)

    names = [pairs.parent / f'{number}.png' for number in range(40)]
    for number, name in enumerate(names):
        crop(name.name, number, 255 - number, 7)
    wanted = [(first, second) for first in names for second in names[:3]]
    embedder = OnnxEmbedder(colour_model())
    results = compare_pairs(embedder, Counting((4, 6), 'arcface', None), wanted)
    assert sorted(read) == sorted(names)
    embeddings = embedder.embed(np.stack([read_photo(name) for name in names])).astype(np.float64)
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    expected = [unit[names.index(first)] @ unit[names.index(second)] for first, second in wanted]
    np.testing.assert_allclose([result.similarity for result in results], expected, atol=1e-6)


@pytest.mark.parametrize(('text', 'words'), [
    ('a.png\n', 'line 1: expected two paths'), ('a.png,b.png\na.png,b.png,c.png\n', 'line 2: expected two paths'),
    ('a.png,\n', 'line 1: expected two paths'), ('\n', 'no pair in it'), ('"a.png,b.png\n', 'not a CSV file'), ('\xff,b.png\n', 'UTF-8'),
])
def test_a_list_that_is_damaged_is_refused_even_with_skip(run, colour_model, tmp_path, text, words):
    (tmp_path / 'pairs.csv').write_bytes(text.encode('latin-1'))
    code, out, err = run(colour_model(), '--pairs', tmp_path / 'pairs.csv', '--aligned', '--on-error', 'skip')
    assert (code, out) == (2, '')
    assert 'pairs.csv' in err
    assert words in err


@pytest.mark.parametrize('arguments', [('--pairs', 'x.csv', 'a.png', 'b.png'), ('a.png', ), ()])
def test_two_photos_or_a_list_not_both(run, arguments):
    with pytest.raises(SystemExit) as caught:
        run('model.onnx', *arguments)
    assert caught.value.code == 2

"""What people feed to the tools, and what they are told: the file, what is wrong with it, and the way out."""
import json

import cv2
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mmface.apis import DetectedFace, FaceCropper, FaceDetector, FaceInferencer, PhotoError
from mmface.functional.geometry import landmark_template


class Painted:
    """Finds as many faces as the first pixel of a picture says, the size of its second a side."""

    def detect(self, image):
        count, side = int(image[0, 0, 0]) // 50, int(image[0, 1, 0])
        target = landmark_template((4, 6), 'arcface') * [side / 6, side / 4]
        return [DetectedFace((10. + 100 * at, 10., side, side), target + np.array([10 + 100 * at, 10]), .9) for at in range(count)]


def picture(path, count, side=60):
    image = np.full((200, 250, 3), 90, np.uint8)
    image[0, 0], image[0, 1] = count * 50, side
    cv2.imwrite(str(path), image)
    return path


@pytest.fixture
def run(tool, capsys, monkeypatch):
    """A tool, whose detector is :class:`Painted`."""

    def call(name, *args):
        monkeypatch.setattr('mmface.apis.face_detector.FaceDetector', lambda path: Painted())
        code = tool(name)([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def photos(tmp_path):
    """Every kind of unusable photo, and what is said about it."""
    good = picture(tmp_path / 'good.png', 1)
    picture(tmp_path / 'nobody.png', 0)
    picture(tmp_path / 'two.png', 2)
    picture(tmp_path / 'tiny.png', 1, side=12)
    (tmp_path / 'truncated.jpg').write_bytes(cv2.imencode('.jpg', cv2.imread(str(good)))[1].tobytes()[:-400])
    (tmp_path / 'clip.mp4').write_bytes(b'\0\0\0\x18ftypmp42')
    header = b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR' + (60_000).to_bytes(4, 'big') * 2 + b'\x08\2\0\0\0'
    (tmp_path / 'huge.png').write_bytes(header + b'\0' * 64)
    (tmp_path / 'none.txt').write_text('words')
    return tmp_path


BAD = [('nobody.png', 'no face found'), ('two.png', '--largest'), ('tiny.png', 'too small to be recognised'),
       ('truncated.jpg', 'JPEG that'),
       ('clip.mp4', 'a video, and a photo is wanted: take a frame'), ('huge.png', '3,600,000,000 pixels'), ('none.txt', 'not an image'),
       ('missing.png', 'No such file')]  # yapf: disable


@pytest.mark.parametrize(('name', 'words'), BAD)
def test_verify_and_gallery_name_the_file_and_the_way_out(run, colour_model, photos, name, words):
    model = colour_model()
    for arguments in (('verify', model, photos / 'good.png', photos / name),
                      ('gallery', 'enroll', photos / 'g', model, photos / 'good.png', photos / name, '--person', 'Ada')):
        code, out, err = run(*arguments)
        assert (code, out) == (2, '')
        assert f'{photos / name}: ' in err
        assert words in err
    assert not (photos / 'g').exists()


def test_the_others_go_on_when_asked_and_are_counted(run, colour_model, photos):
    model, names = colour_model(), [name for name, _ in BAD]
    (photos / 'pairs.csv').write_text('good.png,good.png\n' + ''.join(f'{name},good.png\n' for name in names))
    code, out, _ = run('verify', model, '--pairs', photos / 'pairs.csv', '--on-error', 'skip', '--json')
    assert (code, len(json.loads(out)['pairs']), len(json.loads(out)['skipped'])) == (3, 1, len(BAD))
    code, out, _ = run('gallery', 'enroll', photos / 'g', model, photos / 'good.png', *(photos / name for name in names), '--person', 'Ada',
                       '--on-error', 'skip', '--json')
    assert (code, len(json.loads(out)['enrolled']), len(json.loads(out)['skipped'])) == (3, 1, len(BAD))


def test_the_inferencer_tells_what_it_could_not_use_and_gives_all_faces_of_the_rest(colour_model, photos):
    names = [name for name, _ in BAD]
    found = FaceInferencer(colour_model(), detector=Painted())([photos / name for name in names], on_error='skip')['predictions']
    told = {picture['path'].rsplit('/', 1)[1]: picture for picture in found}
    assert {name: len(picture['faces']) for name, picture in told.items() if picture['problem'] is None} == {
        'nobody.png': 0, 'two.png': 2, 'tiny.png': 1}  # yapf: disable
    assert told['tiny.png']['faces'][0]['box'][2] == 12
    assert 'no frame of this video' in told['clip.mp4']['problem']
    with pytest.raises(PhotoError, match=r'huge\.png.*not decoded'):
        FaceInferencer(colour_model(), detector=Painted())(photos / 'huge.png')


def test_grey_pictures_and_pictures_with_alpha_are_used_as_people_see_them(shared, yunet, tmp_path):
    photo = cv2.imread(str(min((shared / 'data/photos').glob('*/*.jpg'))))
    grey = cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)
    cv2.imwrite(str(tmp_path / 'grey.png'), grey)
    cv2.imwrite(str(tmp_path / 'threefold.png'), cv2.merge([grey] * 3))
    cv2.imwrite(str(tmp_path / 'plain.png'), photo)
    cv2.imwrite(str(tmp_path / 'alpha.png'), cv2.merge([photo, np.full_like(grey, 200)[..., None]]))
    cropper = FaceCropper((112, 112), 'arcface', FaceDetector(yunet), 'largest')
    for one, other in (('grey', 'threefold'), ('alpha', 'plain')):
        np.testing.assert_array_equal(cropper(tmp_path / f'{one}.png').image, cropper(tmp_path / f'{other}.png').image)


def network(path, inputs, output):
    """Inputs of these shapes, their sum reduced to the output's rank."""
    nodes = [helper.make_node('ReduceMean', [f'x{at}'], [f'm{at}'], axes=list(range(len(output), len(shape))), keepdims=0)
             for at, shape in enumerate(inputs)]  # yapf: disable
    nodes.append(helper.make_node('Sum', [f'm{at}' for at in range(len(inputs))], ['y']))
    values = [helper.make_tensor_value_info(f'x{at}', TensorProto.FLOAT, shape) for at, shape in enumerate(inputs)]
    graph = helper.make_graph(nodes, 'g', values, [helper.make_tensor_value_info('y', TensorProto.FLOAT, output)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize(('inputs', 'output', 'words'), [
    ([[1, 3, 4, 6]], [1, 3], "do not give 'mean': pass mean (on the command line --mean)"),
    ([[1, 3, 4, 6], [1, 3, 4, 6]], [1, 3], 'takes one input [B, 3, H, W] or [B, H, W, 3], this file takes x0'),
    ([[1, 3, 4]], [1, 3], 'takes one input [B, 3, H, W]'),
    ([[1, 3, 4, 6]], [1, 3, 4], 'gives one embedding [B, D]'),
])
def test_a_wrong_network_is_said_with_exit_code_2(run, photos, inputs, output, words):
    path = network(photos / 'wrong.onnx', inputs, output)
    for arguments in (('verify', path, photos / 'good.png', photos / 'good.png'),
                      ('gallery', 'search', photos / 'g', path, photos / 'good.png')):
        code, out, err = run(*arguments)
        assert (code, out) == (2, '')
        assert f'{path}: ' in err
        assert words in err
    with pytest.raises(ValueError, match=r'wrong\.onnx'):
        FaceInferencer(path, detector=Painted())


@pytest.mark.parametrize('flags', [('--mean', 1, 2, 3), ('--std', 2, 2, 2), ('--color', 'BGR'), ('--size', 112, 112)])
def test_flags_that_contradict_the_file_are_refused(run, colour_model, photos, flags):
    for arguments in (('verify', colour_model(), photos / 'good.png', photos / 'good.png', *flags),
                      ('gallery', 'enroll', photos / 'g', colour_model(), photos / 'good.png', *flags)):
        code, out, err = run(*arguments)
        assert (code, out) == (2, '')
        assert f'{flags[0][2:]} ' in err
        assert 'was given, but the file is made for' in err

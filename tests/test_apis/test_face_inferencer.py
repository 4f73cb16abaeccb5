"""Pictures in, faces with embeddings out."""
import cv2
import numpy as np
import pytest

from mmface.apis import DetectedFace, FaceDetector, FaceInferencer, OnnxEmbedder, PhotoError, export_model
from mmface.functional.geometry import align_face, landmark_template

RED, BLUE = (200, 10, 10), (10, 10, 200)


class TwoHalves:
    """A face in the left half of a picture and one in the right, or none in a picture that is black."""

    def detect(self, image):
        if not image.any():
            return []
        height, width = image.shape[:2]
        template = landmark_template((4, 6), 'arcface')
        return [DetectedFace((left, 0, width // 2, height), template * [width / 12, height / 4] + [left, 0], .9)
                for left in (0, width // 2)]  # yapf: disable


def halves(left, right, height=40, width=120):
    image = np.empty((height, width, 3), np.uint8)
    image[:, :width // 2], image[:, width // 2:] = left, right
    return image


@pytest.fixture
def inferencer(colour_model):
    return FaceInferencer(colour_model(), detector=TwoHalves())


def test_every_face_gets_the_embedding_of_its_own_crop(inferencer, colour_model):
    images = [halves(RED, BLUE), np.zeros((8, 8, 3), np.uint8), halves(BLUE, RED, 20, 60)]
    found = inferencer(images, batch_size=3, return_crops=True)['predictions']
    assert [len(picture['faces']) for picture in found] == [2, 0, 2]
    assert [picture['path'] for picture in found] == ['array 0', 'array 1', 'array 2']
    embedder = OnnxEmbedder(colour_model())
    for image, picture in zip(images, found, strict=True):
        for face in picture['faces']:
            crop = align_face(image, np.array(face['landmarks']), (4, 6), 'arcface')
            np.testing.assert_array_equal(face['crop'], crop)
            np.testing.assert_allclose(face['embedding'], embedder.embed(crop[None])[0], rtol=1e-6)
            assert face['norm'] == pytest.approx(np.linalg.norm(face['embedding']))
            assert face['residual'] < 1e-6
    assert found[0]['faces'][0]['embedding'][0] > 0 > found[0]['faces'][1]['embedding'][0]


@pytest.mark.parametrize('batch_size', [1, 2, 100])
def test_the_batch_size_changes_nothing(inferencer, batch_size):
    images = [halves(RED, BLUE), halves(BLUE, RED), halves(RED, RED)]
    first, again = (inferencer(images, batch_size=size)['predictions'] for size in (7, batch_size))
    for one, other in zip(first, again, strict=True):
        for face, same in zip(one['faces'], other['faces'], strict=True):
            np.testing.assert_allclose(face['embedding'], same['embedding'], rtol=1e-6)


def test_files_folders_and_videos(inferencer, tmp_path):
    (tmp_path / 'in/deep').mkdir(parents=True)
    cv2.imwrite(str(tmp_path / 'in/deep/a.png'), halves(RED, BLUE)[..., ::-1])
    video = cv2.VideoWriter(str(tmp_path / 'in/b.avi'), cv2.VideoWriter_fourcc(*'MJPG'), 5, (120, 40))
    for left in (RED, BLUE, RED):
        video.write(np.ascontiguousarray(halves(left, BLUE)[..., ::-1]))
    video.release()
    found = inferencer(tmp_path / 'in')['predictions']
    assert [(picture['path'].rsplit('/', 1)[1], picture['frame']) for picture in found] == [
        ('b.avi', 0), ('b.avi', 1), ('b.avi', 2), ('a.png', None)]  # yapf: disable
    assert [picture['faces'][0]['embedding'][0] > 0 for picture in found] == [True, False, True, True]


def test_a_picture_that_cannot_be_used_stops_or_is_told(inferencer, tmp_path):
    (tmp_path / 'bad.jpg').write_bytes(b'no picture')
    (tmp_path / 'bad.mp4').write_bytes(b'no video')
    with pytest.raises(PhotoError, match=r'bad\.jpg'):
        inferencer(tmp_path)
    found = inferencer([halves(RED, BLUE), tmp_path, np.zeros((3, 3))], on_error='skip')['predictions']
    assert [len(picture['faces']) for picture in found] == [2, 0, 0, 0]
    assert [picture['problem'] is None for picture in found] == [True, False, False, False]
    assert 'no frame' in found[2]['problem']
    assert 'uint8 RGB' in found[3]['problem']
    (tmp_path / 'empty').mkdir()
    with pytest.raises(PhotoError, match='no image and no video'):
        inferencer(tmp_path / 'empty')


def test_samples_and_drawings(inferencer):
    image = halves(RED, BLUE)
    found = inferencer([image, image * 0], return_datasamples=True, draw=True)
    assert found['predictions'][0]['faces'].embedding.shape == (2, 3)
    assert found['predictions'][0]['faces'].metainfo['score'] == [.9, .9]
    assert (found['visualization'][0] != image).any()
    np.testing.assert_array_equal(found['visualization'][1], image * 0)


def test_aligned_crops_are_taken_as_they_are(colour_model):
    inferencer = FaceInferencer(colour_model(), aligned=True)
    crop = np.full((4, 6, 3), RED, np.uint8)
    np.testing.assert_allclose(inferencer(crop)['predictions'][0]['faces'][0]['embedding'], np.array(RED) - 128.)
    with pytest.raises(PhotoError, match='eats aligned crops of 4 x 6'):
        inferencer(halves(RED, BLUE))


def test_a_config_and_its_checkpoint_embed_as_their_export_does(config, checkpoint, tmp_path):
    export_model(config, checkpoint, tmp_path / 'small.onnx')
    crops = list(np.random.default_rng(0).integers(0, 256, (3, 32, 16, 3), np.uint8))
    both = [FaceInferencer(model, weights, aligned=True, device=device)(crops)['predictions'] for model, weights, device in (
        (str(config), checkpoint, 'cpu'), (tmp_path / 'small.onnx', None, None))]  # yapf: disable
    for one, other in zip(*both, strict=True):
        np.testing.assert_allclose(one['faces'][0]['embedding'], other['faces'][0]['embedding'], rtol=0, atol=1e-4)


def test_real_faces_are_found_in_real_photos(shared, yunet):
    inferencer = FaceInferencer(shared / 'models/mobilefacenet.onnx', detector=FaceDetector(yunet), mean=(123.675, 116.28, 103.53),
                                std=(58.395, 57.12, 57.375), color='RGB')  # yapf: disable
    photos = sorted((shared / 'data/photos').rglob('*.jpg'))[:4]
    found = inferencer(photos, batch_size=3)['predictions']
    assert all(picture['faces'] and picture['faces'][0]['score'] > .7 for picture in found)

"""Who of an evaluation set might be in a training set, with a stand-in for the network that sees the mean colour."""
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmface.apis.identity_overlap import find_overlap
from mmface.structures import PairSet, TemplateSet

COLOURS = np.random.default_rng(0).integers(20, 236, (12, 3))


class ColourNetwork:
    """Embeds a crop as its mean colour, less grey."""
    size, template = (112, 112), 'arcface'

    def embed(self, images: np.ndarray) -> np.ndarray:
        assert images.dtype == np.uint8 and images.shape[1:] == (112, 112, 3)
        return (images.mean((1, 2)) - 127.5).astype(np.float32)


class Reader:
    """Images of one colour each, which is that of a person."""

    def __init__(self, people: list[int], size: int = 112, **attributes) -> None:
        self.path, self.people, self.size = Path('set'), people, size
        vars(self).update(attributes)

    def __len__(self) -> int:
        return len(self.people)

    def read(self, at: int) -> bytes:
        if self.people[at] < 0:
            return b'broken'
        pixels = np.full((self.size, self.size, 3), COLOURS[self.people[at]][::-1], np.uint8)
        return cv2.imencode('.png', pixels)[1].tobytes()


def training_set(people: list[int], labels: list[int], **attributes) -> Reader:
    return Reader(people, labels=np.array(labels), classes=None, **attributes)


def evaluation_set(people: list[int], identities: list[str] | None) -> Reader:
    n = len(people)
    pairs = PairSet('lfw', [f'{at}.png' for at in range(n)], np.array([[0, 1]]), np.array([True]), np.array([0]), identities)
    return Reader(people, set=pairs)


def cosine(first: int, second: int) -> float:
    a, b = COLOURS[[first, second]] - 127.5
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_a_person_in_both_sets_is_a_candidate_with_the_class_and_the_similarity():
    records = training_set([0, 0, 1, 2, 2], [0, 0, 1, 2, 2])
    summary, *found = find_overlap(ColourNetwork(), records, evaluation_set([7, 7, 2, 8], ['ada', 'ada', 'bob', 'eve']), 0.999)
    assert summary.value == '1 of 3 people of lfw have a candidate among 3 classes'
    assert [(finding.kind, finding.where) for finding in found] == [('warn', 'class 2')]
    assert found[0].value == 'similarity 1.0000 with bob of lfw'


def test_similarities_are_those_of_a_loop_over_all_pairs():
    train, tested = [3, 1, 4, 0], [5, 9, 2, 6]
    records = training_set(train, [0, 1, 2, 3])
    _, *found = find_overlap(ColourNetwork(), records, evaluation_set(tested, None), -1.)
    expected = sorted(((max(cosine(one, other) for other in train), at) for at, one in enumerate(tested)), reverse=True)
    assert [finding.value for finding in found] == [f'similarity {value:.4f} with {at}.png of lfw' for value, at in expected]


def test_without_candidates_one_remark_says_how_near_the_nearest_is():
    (summary, ) = find_overlap(ColourNetwork(), training_set([0, 1], [0, 1]), evaluation_set([2, 3], None), 1.1)
    highest = max(cosine(one, other) for one in (2, 3) for other in (0, 1))
    assert summary.kind == 'info'
    assert summary.value == '0 of 2 images of lfw have a candidate among 2 classes'
    assert f'the highest is {highest:.4f}' in summary.hint


def test_a_class_is_the_mean_of_images_spread_over_it_and_is_called_by_its_name():
    records = training_set([0, 0, 1, 1, 2], [5, 5, 5, 5, 1])
    records.classes = {'ada': 5, 'bob': 1}
    both = (COLOURS[0] - 127.5) / np.linalg.norm(COLOURS[0] - 127.5) + (COLOURS[1] - 127.5) / np.linalg.norm(COLOURS[1] - 127.5)
    _, found, *_ = find_overlap(ColourNetwork(), records, evaluation_set([0, 0], ['eve', 'eve']), -1., images_per_class=2)
    expected = float(both / np.linalg.norm(both) @ (COLOURS[0] - 127.5) / np.linalg.norm(COLOURS[0] - 127.5))
    assert expected > cosine(0, 2), 'the colours must make the mean the nearest'
    assert (found.where, found.value) == ('class ada', f'similarity {expected:.4f} with eve of lfw')


def test_what_cannot_be_used_is_left_out_and_a_set_without_usable_image_is_refused():
    summary, found = find_overlap(ColourNetwork(), training_set([-1, 0, 1], [0, 1, 2]), evaluation_set([-1, 1], None), 0.999)
    assert summary.value == '1 of 1 images of lfw have a candidate among 2 classes'
    assert found.where == 'class 2'
    with pytest.raises(ValueError, match='no image can be used; the network eats aligned crops of 112 x 112'):
        find_overlap(ColourNetwork(), training_set([0], [0], size=96), evaluation_set([1, 2], None))


def test_batches_do_not_matter():
    args = training_set([0, 1, 2, 3, 1], [0, 1, 2, 3, 1]), evaluation_set([4, 5, 1, 2], None)
    assert find_overlap(ColourNetwork(), *args, 0., batch_size=1) == find_overlap(ColourNetwork(), *args, 0., batch_size=64)


def test_loose_crops_are_aligned_before():
    landmarks = np.array([[[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]])
    crops = TemplateSet('ijbc', ['a.png'], np.array([1]), np.array([1]), landmarks=2 * landmarks)
    images = Reader([3], size=224, set=crops)
    _, found = find_overlap(ColourNetwork(), training_set([3, 1], [0, 1]), images, 0.999)
    assert (found.where, found.value) == ('class 0', 'similarity 1.0000 with a.png of ijbc')

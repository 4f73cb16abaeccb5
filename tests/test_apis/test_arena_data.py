"""Who is trained on and who is compared in a comparison of recipes."""
from itertools import combinations

import cv2
import numpy as np
import pytest

from mmface.apis.arena import draw_listed_pairs, genuine_pairs, open_data, write_lfw, write_procedural
from mmface.apis.arena.degrade import Degrade
from mmface.datasets import FaceDataset
from mmface.datasets.formats import DataFormatError
from mmface.datasets.procedural import ProceduralFaces


def test_genuine_pairs_are_all_pairs_of_one_person():
    people = np.array([2, 0, 1, 0, 2, 0])
    expected = {(a, b) for a, b in combinations(range(6), 2) if people[a] == people[b]}
    assert set(map(tuple, genuine_pairs(people).tolist())) == expected


def test_a_person_with_many_pictures_brings_no_more_than_the_limit_and_the_others_do_not_change_which():
    crowd = np.repeat([0, 1, 2], [40, 3, 9])
    pairs = genuine_pairs(crowd, most=30)
    assert np.bincount(crowd[pairs[:, 0]]).tolist() == [30, 3, 30]
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    alone = genuine_pairs(crowd[:40], most=30)
    np.testing.assert_array_equal(pairs[:30], alone)


def test_a_drawn_list_is_balanced_in_every_part_and_has_no_pair_twice():
    people = np.repeat(np.arange(10), 4)
    pairs, same, part = draw_listed_pairs(people, 100, 10)
    assert len(np.unique(pairs, axis=0)) == len(pairs) == 100
    np.testing.assert_array_equal(same, people[pairs[:, 0]] == people[pairs[:, 1]])
    assert (np.bincount(part[same]) == 5).all() and (np.bincount(part[~same]) == 5).all()
    with pytest.raises(ValueError, match='do not fill 10 parts'):
        draw_listed_pairs(people[:6], 100, 10)


def test_the_tenth_fold_of_lfw_leaves_the_people_and_images_that_the_comparison_is_about(shared, tmp_path):
    write_lfw(tmp_path / 'lfw', shared / 'data/lfw112.tar', shared / 'data/lfw_pairs.txt')
    data = open_data(tmp_path / 'lfw')
    assert (data.people, data.images) == (1505, 7829)
    assert (len(data.persons), len(np.unique(data.persons))) == (1611, 451)
    assert len(data.listed) == 600 and data.listed.same.sum() == 300
    identities = np.array(data.listed.identities)
    np.testing.assert_array_equal(identities[data.listed.pairs[:, 0]] == identities[data.listed.pairs[:, 1]], data.listed.same)
    counts = np.bincount(data.persons)
    assert len(genuine_pairs(data.persons)) == np.minimum(counts * (counts - 1) // 2, 30).sum() == 1161
    test = FaceDataset(str(tmp_path / 'lfw/test/faces.rec'))
    np.testing.assert_array_equal(test.labels, data.persons)


def test_procedural_people_are_the_same_each_time_and_damage_is_noticed(tmp_path):
    for name in ('one', 'two'):
        write_procedural(tmp_path / name, 3, 2, 10, 3)
    one, two = open_data(tmp_path / 'one'), open_data(tmp_path / 'two')
    assert one.sha256 == two.sha256
    assert (one.people, one.images, len(one.persons)) == (3, 6, 30)
    record = tmp_path / 'two/train/faces.rec'
    record.write_bytes(record.read_bytes()[:-4] + b'\x01\x02\x03\x04')
    with pytest.raises(DataFormatError, match='not those that were written'):
        open_data(tmp_path / 'two')
    with pytest.raises(DataFormatError, match='FileNotFoundError'):
        open_data(tmp_path)


def test_a_degraded_picture_keeps_its_size_loses_its_detail_and_is_always_the_same():
    image = ProceduralFaces(0).draw(0, 0)[0]
    first, second = (Degrade()(dict(img=image.copy()))['img'] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.shape == image.shape and first.dtype == np.uint8
    assert cv2.Laplacian(first, cv2.CV_64F).var() < cv2.Laplacian(image, cv2.CV_64F).var() / 4
    assert abs(first.mean() - image.mean()) < 3

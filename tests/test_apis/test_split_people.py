"""Splitting a folder of faces into people to train on and strangers to test with."""
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmface.apis.split_people import draw_pairs, split_people
from mmface.commands.main import main
from mmface.datasets import open_eval, open_records


@pytest.fixture
def faces(tmp_path) -> Path:
    """Twenty people with three images each, one with one, one whose name has a blank."""
    random = np.random.default_rng(0)
    for person in [*(f'p{at}' for at in range(20)), 'Anna Maria', 'once']:
        (tmp_path / 'aligned' / person).mkdir(parents=True)
        for at in range(1 if person == 'once' else 3):
            cv2.imwrite(str(tmp_path / 'aligned' / person / f'{at}.jpg'), random.integers(0, 256, (16, 16, 3), np.uint8))
    return tmp_path / 'aligned'


def bytes_of(folder: Path) -> list[bytes]:
    return sorted(file.read_bytes() for file in folder.rglob('*.jpg'))


def test_every_image_is_in_one_of_the_two_and_nobody_in_both(faces, tmp_path):
    made = split_people(faces, tmp_path / 'data', people=8, folds=4)
    train, test = bytes_of(tmp_path / 'data/faces'), bytes_of(tmp_path / 'data/pairs')
    assert sorted(train + test) == bytes_of(faces)
    assert not set(train) & set(test)
    assert (made.train_people, made.test_people, made.train_images, len(test)) == (14, 8, 42 - 2, 24)
    assert open_records(str(tmp_path / 'data/faces')).num_classes == 14


def test_the_readers_take_what_is_written_and_each_fold_has_people_of_its_own(faces, tmp_path):
    made = split_people(faces, tmp_path / 'data', people=21, folds=3)
    pair_set = open_eval(str(tmp_path / 'data/pairs'))
    assert len(pair_set.pairs) == made.pairs == 3 * 2 * 21  # 7 people a fold: 21 of each kind
    assert pair_set.same.sum() * 2 == made.pairs
    people = np.array(pair_set.identities)[pair_set.pairs]
    assert ((people[:, 0] == people[:, 1]) == pair_set.same).all()
    folds = [set(people[pair_set.fold == fold].ravel()) for fold in range(3)]
    assert sum(map(len, folds)) == len(set.union(*folds)) == 21
    assert 'Anna_Maria' in set.union(*folds)  # 21 are all who have several images
    assert len({tuple(sorted(pair)) for pair in pair_set.pairs.tolist()}) == made.pairs


def test_the_same_seed_gives_the_same_files_and_another_another_choice(faces, tmp_path):
    for name, seed in (('a', 0), ('b', 0), ('c', 1)):
        split_people(faces, tmp_path / name, people=8, folds=4, seed=seed)
    lists = [(tmp_path / name / 'pairs/pairs.txt').read_text() for name in 'abc']
    assert lists[0] == lists[1] != lists[2]


def test_pairs_are_as_many_as_asked_for_or_as_the_poorest_fold_has():
    folds = [{'a': 4, 'b': 4, 'c': 2}, {'d': 2, 'e': 2}]
    assert draw_pairs(folds, 1000, np.random.default_rng(0))[0] == '2\t2'  # d and e make two genuine pairs
    assert draw_pairs(folds[:1], 4, np.random.default_rng(0))[0] == '1\t2'


@pytest.mark.parametrize(('options', 'words'), [
    (dict(people=22), '22 people to test with'), (dict(people=3, folds=2), 'it takes 4 with several images'),
    (dict(folds=20), 'Ask for fewer folds'), (dict(folds=0), 'at least one fold'),
])
def test_too_much_asked_is_refused_and_nothing_is_written(faces, tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        split_people(faces, tmp_path / 'data', **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['aligned']


def test_what_is_there_is_left_alone(faces, tmp_path, capsys):
    (tmp_path / 'data').mkdir()
    assert main(['split', str(faces), str(tmp_path / 'data')]) == 2
    assert 'exists already' in capsys.readouterr().err
    assert main(['split', str(faces), str(tmp_path / 'new'), '--people', '8', '--folds', '2']) == 0
    assert '(model.head.num_classes=14)' in capsys.readouterr().out

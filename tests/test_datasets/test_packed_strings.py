"""Packed strings behave like the list that they stand for."""
import os
import pickle

import pytest

from mmface.datasets.formats.common.packed_strings import PackedStrings

NAMES = ['a/1.jpg', '', 'Zoë Ångström/ü.jpeg', '人物/照片.png', os.fsdecode(b'not utf8 \xff'), 'a/1.jpg']


def test_every_string_comes_back_from_either_end_and_in_slices():
    packed = PackedStrings(iter(NAMES))
    assert packed == NAMES
    assert NAMES == list(packed) == packed[:]
    assert packed[-2] == NAMES[-2]
    assert packed[1:4] == NAMES[1:4]
    assert packed[::-1] == NAMES[::-1]
    assert packed.index('人物/照片.png') == 3
    assert pickle.loads(pickle.dumps(packed)) == NAMES


@pytest.mark.parametrize('index', [6, -7])
def test_there_is_nothing_beyond_the_ends(index):
    with pytest.raises(IndexError):
        PackedStrings(NAMES)[index]


def test_other_strings_are_not_equal():
    assert PackedStrings(NAMES) != NAMES[:-1]
    assert PackedStrings(['ab', 'c']) != ['a', 'bc']

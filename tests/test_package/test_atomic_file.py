"""A file is whole or not there."""
import pytest

from mmface.utils.atomic_file import atomic_file


def test_a_file_appears_when_the_block_ends(tmp_path):
    path = tmp_path / 'new/file'
    with atomic_file(path) as file:
        file.write(b'whole')
        assert not path.exists()
    assert path.read_bytes() == b'whole'
    assert list(path.parent.iterdir()) == [path]


def test_what_was_there_stays_when_writing_fails(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'old')
    with pytest.raises(TypeError), atomic_file(path) as file:
        file.writelines([b'new', 'half'])
    assert path.read_bytes() == b'old'
    assert list(tmp_path.iterdir()) == [path]

"""The cache finds an entry by what it was made from, and nothing that is broken."""
import numpy as np
import pytest

from mmface.apis.embedding_cache import EmbeddingCache

IMAGES = [b'abc', b'defg']


def test_the_key_follows_every_byte_every_border_and_every_switch():
    cache = EmbeddingCache('unused')
    key = cache.key(dict(color='RGB'), IMAGES)
    assert cache.key(dict(color='RGB'), [memoryview(image) for image in IMAGES]) == key
    changed = ([b'abd', b'defg'], [b'abcd', b'efg'], IMAGES[::-1], IMAGES[:1], [*IMAGES, b''])
    others = [cache.key(dict(color='RGB'), images) for images in changed]
    others.append(cache.key(dict(color='BGR'), IMAGES))
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    others += [cache.key(dict(color='RGB'), [image]) for image in (pixels, pixels.reshape(4, 2, 3), pixels + 1, pixels.tobytes())]
    assert cache.key(dict(color='RGB'), [pixels[:, ::-1][:, ::-1]]) == others[-4]
    assert len({key, *others}) == 11


def test_an_entry_comes_back_as_it_was(tmp_path):
    cache, rows = EmbeddingCache(tmp_path / 'new'), np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    assert cache.get('ab12', 5) is None
    cache.put('ab12', rows)
    np.testing.assert_array_equal(cache.get('ab12', 5), rows)
    assert cache.get('ab12', 4) is None
    assert [path.name for path in (tmp_path / 'new').rglob('*') if path.is_file()] == ['ab12.npz']


@pytest.mark.parametrize('content', [b'', b'junk', b'PK\x03\x04' + bytes(100)])
def test_what_is_no_entry_counts_as_absent(tmp_path, content):
    cache = EmbeddingCache(tmp_path)
    cache.put('ab12', np.ones((2, 3), np.float32))
    (tmp_path / 'ab/ab12.npz').write_bytes(content)
    assert cache.get('ab12', 2) is None


def test_the_folder_is_the_users_cache_unless_said_otherwise(monkeypatch, tmp_path):
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path))
    assert EmbeddingCache().folder == tmp_path / 'mmface/embeddings'

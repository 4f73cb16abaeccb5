"""From an entry to a file: where it is kept, and that it is checked."""
import dataclasses
import hashlib

import pytest

from mmface.zoo import DownloadError, UnverifiedError, fetch_weights

THEIRS = 'adaface_iresnet100_3rdparty-cvlface_webface12m'


@pytest.fixture
def entry(index, server):
    digest = hashlib.sha256(server.body).hexdigest()
    return dataclasses.replace(index.find(THEIRS), weights=server.url(name='model.safetensors'), sha256=digest, size=len(server.body))


def test_a_file_is_kept_under_the_name_of_its_model(entry, server, cache):
    assert fetch_weights(entry) == cache / 'zoo' / THEIRS / 'model.safetensors'
    other = dataclasses.replace(entry, name='other', weights=server.url('altered', 'model.safetensors'))
    with pytest.raises(DownloadError, match='altered'):  # files of two models may have one name
        fetch_weights(other)
    mirrored = dataclasses.replace(other, mirrors=(server.url(name='elsewhere.bin'), ))
    assert fetch_weights(mirrored) == cache / 'zoo/other/model.safetensors'


def test_without_a_hash_it_has_to_be_accepted(entry, server, cache):
    unverified = dataclasses.replace(entry, sha256=None, size=None)
    with pytest.raises(UnverifiedError):
        fetch_weights(unverified)
    assert fetch_weights(unverified, accept_unverified=True).read_bytes() == server.body
    assert fetch_weights(unverified).read_bytes() == server.body

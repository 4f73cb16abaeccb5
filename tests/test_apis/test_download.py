"""Files fetched once: what arrives is what was promised, or nothing is kept."""
import hashlib
import socket

import pytest

from mmface.apis.download import DownloadError, cache_folder, fetch_file

BODY = bytes(range(256)) * 300
SHA256 = hashlib.sha256(BODY).hexdigest()


def test_the_file_is_fetched_once_and_kept(server, cache):
    server.body = BODY
    for _ in range(2):
        assert fetch_file(server.url, SHA256, 'Do it by hand').read_bytes() == BODY
    assert server.requests == 1
    assert [path.name for path in cache.iterdir()] == ['file.onnx']


@pytest.mark.parametrize('manner, words', [('truncated', 'cut short or altered'), ('altered', 'cut short or altered'), ('absent', '404')])
def test_a_file_that_is_not_the_one_expected_is_not_kept(server, cache, manner, words):
    server.body, server.manner = BODY, manner
    with pytest.raises(DownloadError, match=f'cannot fetch {server.url} into .*{words}.*Do it by hand'):
        fetch_file(server.url, SHA256, 'Do it by hand')
    assert not list(cache.iterdir())


def test_a_damaged_file_in_the_cache_is_fetched_again(server, cache):
    server.body = BODY
    cache.mkdir(parents=True)
    (cache / 'file.onnx').write_bytes(BODY[:-1])
    assert fetch_file(server.url, SHA256, '').read_bytes() == BODY


def test_no_server_is_said_with_the_way_out(cache):
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(DownloadError, match=r'cannot fetch http.*Connection refused.*Do it by hand'):
        fetch_file(f'http://127.0.0.1:{port}/file.onnx', SHA256, 'Do it by hand')


def test_a_server_that_never_answers_is_given_up(cache):
    with socket.create_server(('127.0.0.1', 0)) as silent, pytest.raises(DownloadError, match='timed out'):
        fetch_file(f'http://127.0.0.1:{silent.getsockname()[1]}/file.onnx', SHA256, '', timeout=.2)
    assert socket.getdefaulttimeout() is None


def test_the_cache_is_mmengines(monkeypatch, tmp_path):
    monkeypatch.delenv('MMENGINE_HOME', raising=False)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    from mmengine.runner.checkpoint import _get_mmengine_home
    assert str(cache_folder()) == f'{_get_mmengine_home()}/mmface'
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path / 'own'))
    assert str(cache_folder()) == f'{_get_mmengine_home()}/mmface'

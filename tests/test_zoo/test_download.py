"""Files fetched once: what arrives is what was promised, or nothing is kept under its name."""
import hashlib
import json
import multiprocessing
import socket
import ssl
from urllib.request import Request

import pytest

from mmface.utils.cache_folder import cache_folder
from mmface.zoo import transfer
from mmface.zoo.download import DownloadError, UnverifiedError, download, fetch_file, file_name
from mmface.zoo.pin import Pin
from mmface.zoo.transfer import _SameSafety

BODY = bytes(range(256)) * 3000
SHA256 = hashlib.sha256(BODY).hexdigest()


def kept(folder):
    """Files that others may see."""
    return sorted(path.name for path in folder.rglob('*') if path.is_file() and not path.name.startswith('.'))


def test_a_file_is_fetched_once_and_checked_at_every_use(server, cache):
    for _ in range(2):
        path = download(server.url(), SHA256, len(BODY))
        assert path.read_bytes() == BODY
    assert len(server.requests) == 1
    path.write_bytes(BODY[:-1])
    assert download(server.url(), SHA256).read_bytes() == BODY
    assert kept(cache) == ['file.bin']


@pytest.mark.parametrize(('manner', 'words'), [
    ('altered', 'cut short or altered'),
    ('longer', 'has 768,004 bytes, expected were 768,000'),
    ('short', 'has 767,991 bytes, expected were 768,000'),
    ('page', r'web page \(HTML\)'),
    ('disguised', r'web page \(HTML\)'),
    ('to-page', r'web page \(HTML\).*after a redirect to .*/page/login'),
    ('to-disk', 'file:///etc/hostname. is not allowed'),
    ('packed', 'packed'),
    ('absent', '404'),
    ('broken', '503'),
    ('endless', 'more than the expected 768,000 bytes'),
    ('stalls', 'timed out'),
])
def test_what_is_not_the_file_is_refused_by_name_and_not_kept(server, cache, manner, words):
    with pytest.raises(DownloadError, match=f'cannot fetch {server.url(manner)} into .*{words}.*By hand'):
        download(server.url(manner), SHA256, len(BODY), way_out='By hand', timeout=.3)
    assert kept(cache) == []


@pytest.mark.parametrize('manner', ['altered', 'short', 'page', 'disguised', 'endless'])
def test_a_hash_alone_is_enough_to_refuse(server, cache, manner):
    with pytest.raises(DownloadError):
        download(server.url(manner), SHA256)
    assert kept(cache) == []


def test_an_interrupted_download_goes_on_where_it_stopped(server, cache):
    server.cut = 300_000
    with pytest.raises(DownloadError, match='503'):
        download(server.url('broken'), SHA256)
    assert download(server.url(), SHA256, len(BODY)).read_bytes() == BODY
    assert [asked for _, asked in server.requests] == [None, None, 'bytes=300000-', 'bytes=600000-']


def test_a_later_call_goes_on_too(server, cache):
    part = cache / '.file.bin.part'
    cache.mkdir(parents=True)
    part.write_bytes(BODY[:1000])
    (cache / '.file.bin.part.json').write_text(json.dumps(dict(url=server.url(), validator='"1"')))
    assert download(server.url(), SHA256).read_bytes() == BODY
    assert server.requests == [('good', 'bytes=1000-')]
    assert not part.exists()


def test_without_ranges_it_begins_anew_and_gives_up_where_it_does_not_come_farther(server, cache):
    server.cut, server.ranges = 300_000, False
    with pytest.raises(DownloadError, match='cut short: 300,000 of 768,000 bytes came'):
        download(server.url(), SHA256)
    assert len(server.requests) == 2
    server.cut = None
    assert download(server.url(), SHA256).read_bytes() == BODY


@pytest.mark.parametrize('tag', ['"2"', None])
def test_a_file_that_changed_in_between_is_fetched_anew(server, cache, tag):
    cache.mkdir(parents=True)
    (cache / '.file.bin.part').write_bytes(b'x' * 1000)
    (cache / '.file.bin.part.json').write_text(json.dumps(dict(url=server.url(), validator=tag and '"1"')))
    server.tag = tag
    assert download(server.url(), SHA256).read_bytes() == BODY


def test_a_beginning_of_another_address_is_dropped(server, cache):
    cache.mkdir(parents=True)
    (cache / '.file.bin.part').write_bytes(b'x' * 1000)
    (cache / '.file.bin.part.json').write_text(json.dumps(dict(url='http://elsewhere/file.bin', validator='"1"')))
    assert download(server.url(), SHA256).read_bytes() == BODY
    assert server.requests == [('good', None)]


def test_another_part_than_asked_for_is_refused(server, cache):
    with pytest.raises(DownloadError, match='another part'):
        download(server.url('other-part'), SHA256)


def test_a_redirect_is_followed_and_the_name_stays(server, cache):
    assert download(server.url('to-file'), SHA256).name == 'file.bin'


def test_mirrors_are_tried_in_order_and_all_are_named_where_none_serves(server, cache):
    mirrors = [server.url('altered'), server.url('good', 'mirror.bin')]
    assert download(server.url('absent'), SHA256, mirrors=mirrors).name == 'file.bin'
    assert [manner for manner, _ in server.requests] == ['absent', 'altered', 'good']
    with pytest.raises(DownloadError, match=r'absent.*404.*broken.*503'):
        download(server.url('absent', 'b.bin'), SHA256, mirrors=[server.url('broken', 'b.bin')])


def test_offline_only_what_is_there_is_used(server, cache, monkeypatch):
    path = download(server.url(), SHA256)
    monkeypatch.setenv('MMFACE_OFFLINE', '1')
    assert download(server.url(), SHA256) == path
    with pytest.raises(DownloadError, match=r'MMFACE_OFFLINE is set, and .*other.bin is not there'):
        download(server.url(name='other.bin'), SHA256)
    path.write_bytes(b'')
    with pytest.raises(DownloadError, match='damaged or altered'):
        download(server.url(), SHA256)
    assert len(server.requests) == 1


def test_a_file_without_a_hash_has_to_be_accepted_and_is_pinned(server, cache):
    with pytest.raises(UnverifiedError, match='accept-unverified'):
        download(server.url())
    assert server.requests == []
    path = download(server.url(), accept_unverified=True)
    assert path.read_bytes() == BODY
    pin = Pin.read(cache_folder(), server.url())
    assert (pin.sha256, pin.size) == (SHA256, len(BODY))
    assert download(server.url()) == path  # accepted once
    server.body = BODY + b'!'
    assert download(server.url()) == path
    path.unlink()
    with pytest.raises(DownloadError, match=r'cut short or altered.*The hash was pinned on .* in .*pins'):
        download(server.url(), accept_unverified=True)


def test_a_damaged_pin_is_said(server, cache):
    download(server.url(), accept_unverified=True)
    Pin.path(cache, server.url()).write_text('{}')
    with pytest.raises(ValueError, match=r'not a pinned hash.*remove it'):
        download(server.url())


def test_the_proxy_of_the_environment_is_used(server, cache, monkeypatch):
    monkeypatch.delenv('no_proxy')
    monkeypatch.delenv('NO_PROXY', raising=False)
    monkeypatch.setenv('http_proxy', f'http://127.0.0.1:{server.server_port}')
    assert download('http://weights.invalid/good/file.bin', SHA256).read_bytes() == BODY
    assert len(server.requests) == 1


def _fetch(url, sha256, results):
    results.put(download(url, sha256).read_bytes() == BODY)


def test_processes_that_want_the_same_file_fetch_it_once(server, cache):
    context = multiprocessing.get_context('fork')
    results = context.SimpleQueue()
    processes = [context.Process(target=_fetch, args=(server.url('slow'), SHA256, results)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [results.get() for _ in processes] == [True] * 3
    assert len(server.requests) == 1


@pytest.mark.parametrize('url', ['file:///etc/hostname', 'ftp://host/file.bin'])
def test_only_addresses_of_the_web_are_fetched(cache, url):
    with pytest.raises(DownloadError, match='not an address of the web'):
        download(url, SHA256)


def test_no_server_and_a_silent_one_are_said_with_the_way_out(cache, monkeypatch):
    monkeypatch.setenv('no_proxy', '*')
    with socket.create_server(('127.0.0.1', 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(DownloadError, match=r'timed out: nothing came for 0.2 s.*Do it by hand'):
            fetch_file(f'http://127.0.0.1:{port}/file.onnx', SHA256, 'Do it by hand', timeout=.2)
    with pytest.raises(DownloadError, match=r'Connection refused.*Do it by hand'):
        fetch_file(f'http://127.0.0.1:{port}/file.onnx', SHA256, 'Do it by hand')


def test_an_encrypted_connection_that_breaks_is_a_reason_to_try_the_mirror(server, cache, monkeypatch):
    receive = transfer._receive

    def break_once(*args):
        monkeypatch.setattr(transfer, '_receive', receive)
        raise ssl.SSLError('record layer failure')

    monkeypatch.setattr(transfer, '_receive', break_once)
    assert download(server.url(), SHA256, mirrors=[server.url('good', 'mirror.bin')]).read_bytes() == BODY


def test_an_encrypted_address_does_not_lead_to_a_plain_one():
    request = Request('https://host/file.bin')
    with pytest.raises(DownloadError, match='not encrypted'):
        _SameSafety().redirect_request(request, None, 302, 'Found', None, 'http://host/file.bin')


@pytest.mark.parametrize(('url', 'name'), [('http://host/a/b.pt?download=1#x', 'b.pt'), ('http://host/a%20b.pt', 'a b.pt')])
def test_a_file_is_called_after_the_path_of_its_address(url, name):
    assert file_name(url) == name


@pytest.mark.parametrize('url', ['http://host/', 'http://host/a/..', 'http://host/%2e%2e%2fx', 'http://host/.hidden'])
def test_an_address_that_names_no_file_is_refused(url):
    with pytest.raises(DownloadError, match='does not end in a file name'):
        file_name(url)


def test_the_cache_is_mmengines(monkeypatch, tmp_path):
    monkeypatch.delenv('MMENGINE_HOME', raising=False)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    from mmengine.runner.checkpoint import _get_mmengine_home
    assert str(cache_folder()) == f'{_get_mmengine_home()}/mmface'

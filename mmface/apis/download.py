"""Small files that are fetched once and checked at every use."""
import hashlib
import socket
from http.client import HTTPException
from pathlib import Path

from torch.hub import download_url_to_file

from mmface.utils.cache_folder import cache_folder


class DownloadError(OSError):
    """A file that could not be fetched, or is not the one expected; says from where and what to do."""


def fetch_file(url: str, sha256: str, way_out: str, timeout: float = 30) -> Path:
    """The file behind a URL, from the cache or, where the cache has none or a damaged one, from the network.

    The bytes go to a temporary name, are checked, and only then get their own: what another process sees is complete.

    Args:
        url: its last part is the name in :func:`cache_folder`.
        sha256: of the file, 64 hexadecimal digits.
        way_out: ends the error message: what to do where the file cannot be fetched.
        timeout: seconds without an answer after which to give up.

    Raises:
        DownloadError: not reachable, or other bytes than expected.
    """
    path = cache_folder() / url.rsplit('/', 1)[1]
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
        return path
    before = socket.getdefaulttimeout()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        socket.setdefaulttimeout(timeout)  # torch's download has no argument for it, and would wait for ever
        download_url_to_file(url, str(path), hash_prefix=sha256, progress=False)
    except (OSError, HTTPException, RuntimeError) as error:
        problem = 'it is not the file expected, cut short or altered' if isinstance(error, RuntimeError) else f'{error}'
        raise DownloadError(f'cannot fetch {url} into {path.parent}: {problem}. {way_out}') from error
    finally:
        socket.setdefaulttimeout(before)
    return path

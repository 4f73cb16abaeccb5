"""Files that are fetched once and checked at every use."""
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from filelock import FileLock

from mmface.utils.cache_folder import cache_folder
from mmface.utils.progress import Progress

from .errors import DownloadError, UnverifiedError
from .partial_file import PartialFile
from .pin import Pin
from .transfer import transfer

OFFLINE = 'MMFACE_OFFLINE'
"""The environment variable which, set to anything but 0, keeps everything off the network."""


def download(url: str,
             sha256: str | None = None,
             size: int | None = None,
             *,
             folder: Path | None = None,
             mirrors: Sequence[str] = (),
             accept_unverified: bool = False,
             way_out: str = '',
             timeout: float = 30) -> Path:
    """The file behind a URL, from the cache or, where the cache has none or a damaged one, from the network.

    The bytes go to a hidden name, are checked, and only then get their own: what another process sees is complete. One process fetches,
    others that want the same file wait for it. What an interrupted download leaves is the beginning of the next, where the server can send
    the rest and its file is still the same.

    Args:
        url: its last part is the file's name.
        sha256: of the file, 64 hexadecimal digits; None where its author publishes none.
        size: of the file in bytes, None where nobody knows.
        folder: where to keep it. Default: :func:`mmface.utils.cache_folder.cache_folder`.
        mirrors: further addresses of the same file, tried in order.
        accept_unverified: takes a file without ``sha256`` as it comes. The hash seen is pinned in the cache folder, and a file that has
            another one later is refused.
        way_out: ends the error message: what to do where the file cannot be fetched.
        timeout: seconds without an answer after which to give up on an address.

    Raises:
        UnverifiedError: nobody vouches for the file.
        DownloadError: not reachable, or other bytes than expected.
    """
    sha256 = sha256 and sha256.lower()
    folder = cache_folder() if folder is None else Path(folder)
    target = folder / file_name(url)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_name(f'.{target.name}.lock')):
        pin = None if sha256 else Pin.read(cache_folder(), url)
        expected = sha256 or (pin.sha256 if pin else None)
        if target.is_file() and (expected is None or sha256_of(target) == expected) and (sha256 or pin):
            return target
        problems = []
        if os.getenv(OFFLINE, '0') not in ('', '0'):
            problems.append(f'{OFFLINE} is set, and {target} is {"damaged or altered" if target.is_file() else "not there"}')
        elif not (sha256 or pin or accept_unverified):
            raise UnverifiedError(f'{url}: its author publishes no hash, so nobody can tell whether it is the file meant. To take it as it '
                                  'comes, and have its hash pinned: accept_unverified=True (on the command line --accept-unverified)')
        for address in () if problems else (url, *mirrors):
            try:
                _fetch(address, target, expected, size, timeout)
            except DownloadError as error:
                problems.append(f'{address}: {error}')
                continue
            if expected is None:
                Pin.write(cache_folder(), url, sha256_of(target), target.stat().st_size)
            return target
    hint = '' if pin is None else f' The hash was pinned on {pin.first_seen} in {Pin.path(cache_folder(), url)}.'
    raise DownloadError(f'cannot fetch {url} into {folder}: {"; ".join(problems)}.{hint} {way_out}'.rstrip())


def fetch_file(url: str, sha256: str, way_out: str, timeout: float = 30) -> Path:
    """A small file of known hash in the cache folder itself, see :func:`download`."""
    return download(url, sha256, way_out=way_out, timeout=timeout)


def file_name(url: str) -> str:
    """The last part of a URL's path.

    Raises:
        DownloadError: it has none that can be a file's name.
    """
    name = unquote(urlsplit(url).path.rpartition('/')[2])
    if name.strip('.') == '' or '/' in name or '\\' in name or name.startswith('.'):
        raise DownloadError(f'{url}: its path does not end in a file name')
    return name


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with Path(path).open('rb') as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _fetch(url: str, target: Path, sha256: str | None, size: int | None, timeout: float) -> None:
    """Fetches from one address, again as long as each try comes farther than all before; then checks."""
    part = PartialFile(target, url)
    resumed = part.size > 0
    with Progress(target.name, size, 'bytes') as progress:
        farthest = part.size
        while True:
            try:
                transfer(part, size, sha256 is not None, timeout, progress)
                break
            except DownloadError:
                if part.size <= farthest:
                    raise
                farthest, resumed = part.size, True
    found = sha256_of(part.path)
    if sha256 is None or found == sha256:
        part.become(target)
        return
    part.drop()
    if resumed:  # what was there may have been the beginning of another file
        _fetch(url, target, sha256, size, timeout)
        return
    raise DownloadError(f'it is not the file expected, cut short or altered: its SHA-256 is {found}, expected was {sha256}')

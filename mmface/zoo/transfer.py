"""One request for a file, or for the rest of one."""
import os
import re
import ssl
from email.message import Message
from http.client import HTTPException, HTTPResponse
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from mmface.utils.progress import Progress
from mmface.version import __version__

from .errors import DownloadError
from .partial_file import PartialFile

_BLOCK = 1 << 18
_WEB_PAGE = re.compile(rb'\s*(<!doctype html|<html|<head|<\?xml[^>]*>\s*<!doctype html)', re.IGNORECASE)


class _SameSafety(HTTPRedirectHandler):
    """Follows redirects, but not from an encrypted address to a plain one; urllib itself stays on the web."""

    def redirect_request(self, req: Request, fp: object, code: int, msg: str, headers: Message, newurl: str) -> Request | None:
        if urlsplit(req.full_url).scheme == 'https' and urlsplit(newurl).scheme != 'https':
            raise DownloadError(f'it redirects to {newurl}, which is not encrypted')
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def transfer(part: PartialFile, size: int | None, resume_anyhow: bool, timeout: float, progress: Progress) -> None:
    """Asks for a file from where ``part`` ends, and appends what comes.

    The environment's proxies (``http_proxy``, ``https_proxy``, ``no_proxy``) are used.

    Args:
        part: what is there, and the address.
        size: of the whole file in bytes, None where nobody knows.
        resume_anyhow: goes on even where the server gave nothing to tell by whether its file is still the same: a hash will tell.
        timeout: seconds without an answer after which to give up.
        progress: is told how many bytes came.

    Raises:
        DownloadError: says what is wrong; what came remains in ``part`` where it may be a beginning of the file.
    """
    if urlsplit(part.url).scheme not in ('http', 'https'):
        raise DownloadError('not an address of the web (http:// or https://)')
    headers = {'User-Agent': f'mmface/{__version__}', 'Accept-Encoding': 'identity'}
    if part.size and (part.validator or resume_anyhow):
        headers['Range'] = f'bytes={part.size}-'
        if part.validator:
            headers['If-Range'] = part.validator
    try:
        with build_opener(_SameSafety).open(Request(part.url, headers=headers), timeout=timeout) as response:  # noqa: S310  checked above
            _receive(response, part, size, progress)
    except HTTPError as error:
        if error.code == 416:  # nothing beyond what is there: it is too long, or of another file
            part.drop()
        raise DownloadError(f'the server answers {error.code} {error.reason}') from error
    except TimeoutError as error:
        raise DownloadError(f'timed out: nothing came for {timeout:g} s, after {part.size:,} bytes') from error
    except URLError as error:
        late = isinstance(error.reason, TimeoutError)
        raise DownloadError(f'timed out: no answer for {timeout:g} s' if late else f'{error.reason}') from error
    except (ConnectionError, HTTPException, ssl.SSLError) as error:
        raise DownloadError(f'the connection broke after {part.size:,} bytes ({type(error).__name__}: {error})') from error


def _receive(response: HTTPResponse, part: PartialFile, size: int | None, progress: Progress) -> None:
    whole = _begin(response, part)
    block = response.read(_BLOCK)
    if part.size == 0 and _WEB_PAGE.match(block):
        raise _refused(part, _web_page(response, part.url))
    if size is not None and whole is not None and whole != size:
        raise _refused(part, f'it has {whole:,} bytes, expected were {size:,}')
    progress.total = limit = whole if size is None else size
    progress.skip(part.size - progress.done)
    with part.append() as file:
        while block:
            file.write(block)
            progress.advance(len(block))
            if limit is not None and file.tell() > limit:
                raise _refused(part, f'more than the expected {limit:,} bytes came')
            block = response.read(_BLOCK)
        file.flush()
        os.fsync(file.fileno())
    if limit is not None and part.size < limit:
        raise DownloadError(f'cut short: {part.size:,} of {limit:,} bytes came')


def _begin(response: HTTPResponse, part: PartialFile) -> int | None:
    """Makes ``part`` ready for what follows the headers; returns the length of the whole file, None where the server does not say."""
    if 'html' in response.headers.get_content_type():
        raise _refused(part, _web_page(response, part.url))
    if response.headers.get('Content-Encoding', 'identity') != 'identity':
        raise DownloadError(f'it comes packed ({response.headers["Content-Encoding"]}), which was not asked for')
    length = response.headers.get('Content-Length')
    if response.status == 206:
        found = re.fullmatch(r'bytes (\d+)-\d+/(\d+|\*)', response.headers.get('Content-Range', ''))
        if found is None or int(found[1]) != part.size:
            raise _refused(part, f'the server sends another part than asked for ({response.headers.get("Content-Range")})')
        return None if found[2] == '*' else int(found[2])
    if response.status != 200:
        raise DownloadError(f'the server answers {response.status} {response.reason}')
    part.restart(_validator(response.headers))
    return int(length) if length is not None and length.isdecimal() else None


def _validator(headers: Message) -> str | None:
    """What If-Range takes: a strong entity tag, else the date of modification."""
    tag = headers.get('ETag')
    return tag if tag and not tag.startswith('W/') else headers.get('Last-Modified')


def _web_page(response: HTTPResponse, url: str) -> str:
    by = '' if response.url == url else f', after a redirect to {response.url}'
    return f'the answer is a web page (HTML) instead of the file{by}: open the address in a browser and fetch the file by hand'


def _refused(part: PartialFile, problem: str) -> DownloadError:
    """What came is no beginning of the file."""
    part.drop()
    return DownloadError(problem)

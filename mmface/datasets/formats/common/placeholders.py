"""Files that stand in the place of a data set's: what a failed download leaves."""
from pathlib import Path

from ..errors import DataFormatError

_WEB_PAGES = (b'<!doctype html', b'<html', b'<?xml')


def refuse_placeholder(path: Path, head: bytes) -> None:
    """Raises where a file begins like a Git LFS pointer or a web page.

    Args:
        path: for the message.
        head: the first 64 bytes or more.

    Raises:
        DataFormatError: with the way to the real file.
    """
    start = head.removeprefix(b'\xef\xbb\xbf').lstrip().lower()
    if start.startswith(b'version https://git-lfs'):
        raise DataFormatError(path, value='a Git LFS pointer, not the file that it points to', hint='run "git lfs pull" where it came from')
    if start.startswith(_WEB_PAGES):
        raise DataFormatError(path, value='a web page, not the file',
                              hint='download it again; drives on the web answer for large files with a page that asks for consent')

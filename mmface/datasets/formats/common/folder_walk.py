"""What is in a tree of images: its directories, and what is no part of a data set."""
import os
import unicodedata
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from mmengine.logging import print_log

from mmface.utils.progress import Progress

from ..errors import DataFormatError, DataFormatWarning

SUFFIXES = ('.jpg', '.jpeg', '.png', '.bmp', '.webp', '.gif', '.tif', '.tiff', '.ppm', '.pgm')
"""Of files that are images, in lower case."""

_SYSTEMS = {'thumbs.db', 'desktop.ini', '__macosx', '@eadir', '$recycle.bin', 'system volume information', 'lost+found'}
_OURS = {'classes.tsv', 'skipped.tsv'}  # of the converters
_SHOWN = 3


class FolderWalk:
    """All directories under a root with their images. Links are followed, but no directory is entered twice.

    Hidden files, which ``.DS_Store`` and ``._x.jpg`` are, and what systems leave beside the data (``Thumbs.db``, ``__MACOSX``, ``@eaDir``)
    are passed over. Everything else that is left out is counted, and told with the first few places.

    Attributes:
        root: where it began.
        images: directory, relative to the root and with ``/`` -> names of its images; the root itself is ``''``.
        others: files that are no images by their suffix.
        again: links to a directory that is in the tree already, each with the place where it is.

    Raises:
        DataFormatError: for a directory that cannot be read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.images: dict[str, list[str]] = {}
        self.others: list[str] = []
        self.again: list[tuple[str, str]] = []
        seen: dict[tuple[int, int], str] = {}
        directories, links = deque(['']), deque[str]()
        with Progress(f'files of {root.name}', None) as progress:
            while directories or links:
                name = directories.popleft() if directories else links.popleft()
                status = os.stat(root / name)
                first = seen.setdefault((status.st_dev, status.st_ino), name)
                if first != name:
                    self.again.append((name, first))
                    continue
                self.images[name] = self._list(name, directories, links)
                progress.advance(len(self.images[name]))

    def _list(self, folder: str, directories: deque[str], links: deque[str]) -> list[str]:
        """The images in a directory; puts the directories in it into the queues, so that links come after all that is there itself."""
        images = []
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except OSError as error:
            raise DataFormatError(self.root, folder, error.strerror or str(error)) from None
        for entry in entries:
            if entry.name.startswith('.') or entry.name.lower() in _SYSTEMS | _OURS:
                continue
            name = f'{folder}/{entry.name}' if folder else entry.name
            if entry.is_dir():
                (links if entry.is_symlink() else directories).append(name)
            elif entry.name.lower().endswith(SUFFIXES):
                images.append(entry.name)
            else:
                self.others.append(name)
        return images

    def tell(self) -> None:
        """Warns of what may be a mistake: images in the root, empty directories, directories linked twice, names that differ in case."""
        directories = [name for name in self.images if name]
        filled = [name for name in directories if self.images[name]]
        above = {'/'.join(parts[:at]) for parts in (name.split('/') for name in filled) for at in range(len(parts) + 1)}
        empty = sorted(name for name in directories if name not in above)
        doubled = [f'{name} is {first}' for name, first in self.again if not f'{name}/'.startswith(f'{first}/' if first else '')]
        alike = [pair for name, images in self.images.items() for pair in _alike(images, f'{name}/')] + _alike(directories)
        if self.images['']:
            self._warn('', f'{len(self.images[""])} images beside the directories, such as {self.images[""][0]}',
                       'they belong to no identity and are left out')
        if empty:
            self._warn(_first(empty), f'no image in {len(empty)} of {len(directories)} directories', 'they are no classes')
        if doubled:
            self._warn(_first(doubled), f'{len(doubled)} links to directories that are in the tree already', 'they are left out')
        if alike:
            self._warn(_first(alike), f'{len(alike)} names differ from another only in case, or in how letters are composed',
                       'are they copies? Other systems take them for one')
        if self.others:
            print_log(f'{self.root}: {len(self.others)} files are no images by their suffix and left out: {_first(self.others)}',
                      logger='current')

    def _warn(self, where: str, value: str, hint: str) -> None:
        warnings.warn(DataFormatWarning(self.root, where, value, hint), stacklevel=4)


def _first(places: Sequence[str]) -> str:
    return ', '.join(places[:_SHOWN]) + ' ...' * (len(places) > _SHOWN)


def _alike(names: Sequence[str], folder: str = '') -> list[str]:
    """Pairs of names that a file system which does not tell cases apart, or composes letters, takes for one."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.lower() if name.isascii() else unicodedata.normalize('NFC', name).casefold(), name)
    if len(folded) == len(names):
        return []
    kept = set(folded.values())
    return [f'{folder}{name} and {folded[unicodedata.normalize("NFC", name).casefold()]}' for name in names if name not in kept]

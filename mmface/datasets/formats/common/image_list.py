"""What training sets that are lists of files share."""
import re
import warnings
from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from ..errors import DataFormatError, DataFormatWarning, report
from .class_numbers import class_numbers
from .class_ranks import class_ranks
from .class_sizes import log_class_sizes
from .image_files import ImageFiles
from .packed_strings import PackedStrings
from .placeholders import refuse_placeholder

_SUFFIXES = ('.lst', '.list', '.tsv', '.txt')
_ABSOLUTE = re.compile('/|[A-Za-z]:/')


class ImageList(ImageFiles):
    """A text file with one image a line: its path and its class. A format says how a line is split and which fields are these two.

    Several formats fit most lists, so that all of them recognise a list and the user has to name one. Blank lines, a byte order mark and
    CRLF are accepted; paths with backslashes are read as if with slashes, with a warning.

    Attributes:
        path: the folder of the images.
        list: the file.
        files: paths of the N images relative to ``path``.
        labels: int64 ``[N]``.
        num_classes: the largest label + 1.
        classes: None, or with ``labels='rank'`` the stored label, as text -> label.

    Args:
        path: the list.
        images: the folder that its paths begin at; by default the list's own.
        strip: the beginning of its paths that is not in ``images``, for lists with paths of another machine.
        labels: ``'stored'``, or ``'rank'``: the rank of the stored label among those that occur, which closes gaps.
        lists_only: checks the list alone, the images need not be there.

    Raises:
        DataFormatError: naming the line, from 1, and what is wrong with it; or how many images are missing, and the first few.
    """
    separator: ClassVar[str | None] = '\t'  #: between fields; None for any blanks
    fields: ClassVar[str]  #: what a line has, for messages

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 strip: str = '',
                 labels: Literal['stored', 'rank'] = 'stored',
                 lists_only: bool = False) -> None:
        if labels not in ('stored', 'rank'):
            raise ValueError(f"labels={labels!r}: expected 'stored' or 'rank'")
        self.list = path
        self._lines, numbers, root = array('q'), array('d'), Path(path.parent if images is None else images)
        files = PackedStrings(self._read_lines(root, strip.replace('\\', '/'), numbers))
        if not numbers:
            raise DataFormatError(path, value='empty', hint=f'expected lines of {self.fields}')
        super().__init__(root, files)
        self.labels = class_numbers(path, lambda at: f'line {self._lines[at]}', np.array(numbers))
        self.classes: dict[str, int] | None = None
        self.num_classes = int(self.labels.max()) + 1
        log_class_sizes(path, self.labels, self.num_classes)
        if labels == 'rank':
            self.labels, self.classes = class_ranks(self.labels)
            self.num_classes = len(self.classes)
        if not lists_only:
            self.check_presence()

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.is_file() and path.suffix.lower() in _SUFFIXES

    @abstractmethod
    def take(self, fields: list[str], where: str) -> tuple[str, str]:
        """The path and the class among the fields of a line, and whatever else the format keeps of it.

        Raises:
            DataFormatError: through :meth:`refuse`.
        """

    def refuse(self, where: str, value: str) -> DataFormatError:
        """The error for a line."""
        return DataFormatError(self.list, where, value, f'expected {self.fields}; is it another format?')

    def _read_lines(self, root: Path, strip: str, numbers: array) -> Iterator[str]:
        """Yields the paths, and puts the labels into ``numbers`` and the lines' numbers into ``self._lines``."""
        backslashes: list[str] = []
        for number, text in _text_lines(self.list):
            where = f'line {number}'
            try:
                file, label = self._read_line(root, strip, text, where)
            except DataFormatError as fault:
                report(fault)
                continue
            numbers.append(label)
            self._lines.append(number)
            if '\\' in text:
                backslashes.append(where)
            yield file
        if backslashes:
            warnings.warn(DataFormatWarning(self.list, ', '.join(backslashes[:3]) + ' ...' * (len(backslashes) > 3),
                                            f'{len(backslashes)} paths with backslashes', 'they are read as slashes'), stacklevel=5)

    def _read_line(self, root: Path, strip: str, text: str, where: str) -> tuple[str, float]:
        """The path and the label of a line."""
        file, label = self.take([field.strip() for field in text.split(self.separator)], where)
        try:
            number = float(label)
        except ValueError:
            raise self.refuse(where, f'label {label!r} is no number') from None
        return self._inside(root, strip, file.replace('\\', '/'), where), number

    def _inside(self, root: Path, strip: str, file: str, where: str) -> str:
        """The path relative to the folder of the images."""
        if strip:
            if not file.startswith(strip):
                raise DataFormatError(self.list, where, f'path {file}', f'it does not begin with strip={strip!r}')
            return file[len(strip):].lstrip('/')
        if _ABSOLUTE.match(file):
            raise DataFormatError(self.list, where, f'path {file} is absolute', _advice(root, file))
        return file.removeprefix('./')


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open('rb') as file:
        refuse_placeholder(path, file.read(64))
        file.seek(0)
        for number, raw in enumerate(file, 1):
            try:
                line = raw.decode('utf-8-sig' if number == 1 else 'utf-8').strip('\r\n')
            except UnicodeDecodeError as error:
                value = f'byte {raw[error.start]:#04x} is not UTF-8'
                raise DataFormatError(path, f'line {number}', value, 'save the list as UTF-8') from None
            if line.strip():
                yield number, line


def _advice(root: Path, file: str) -> str:
    """How to find an image of another machine: where the end of its path is in the folder of the images, what to strip."""
    parts: Sequence[str] = file.split('/')
    if Path(file).is_file():
        return f'it is on this machine: give images={parts[0] + "/"!r} and strip={parts[0] + "/"!r}'
    for at in range(1, len(parts)):
        if (root / '/'.join(parts[at:])).is_file():
            return f'there is {"/".join(parts[at:])} in {root}: give strip={"/".join(parts[:at]) + "/"!r}'
    return 'give the part of the paths that is not here as strip=, and the folder of the rest as images='

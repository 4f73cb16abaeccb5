"""The tables of formats, and the two doors that everybody uses: :func:`open_records` and :func:`open_eval`.

A format is one file in this package, whose reader class (see :mod:`.reader`) is decorated with ``@RECORDS.register(name)`` or
``@EVALS.register(name)``, and one import line in ``__init__.py``.
"""
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from mmface.structures import PairSet, SearchSet, TemplateSet

from .errors import DataFormatError
from .reader import EvalImages, Reader, Records

R = TypeVar('R', bound=Reader)
C = TypeVar('C', bound=type)


class FormatTable(Generic[R]):
    """Formats of one kind by name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.readers: dict[str, type[R]] = {}

    def register(self, name: str) -> Callable[[C], C]:
        """Decorates a reader class."""

        def add(reader: C) -> C:
            self.readers[name] = reader
            return reader

        return add

    def open(self, path: str | Path, format: str = 'auto', **options: Any) -> R:
        """Opens ``path`` with the named reader, or with the one that recognises it.

        Raises:
            ValueError: for an unknown format name.
            DataFormatError: where nothing is at ``path``, no reader or more than one recognises it, or its reader refuses it.
        """
        path, known = Path(path), ', '.join(self.readers)
        if not path.exists():
            patterns = [name for name, reader in self.readers.items() if _is_pattern(reader, path) and format in ('auto', name)]
            if not patterns:
                raise DataFormatError(path, value='no such file or folder', hint=f'expected {self.kind}')
            return self.readers[patterns[0]](path, **options)
        if format != 'auto':
            if format not in self.readers:
                raise ValueError(f'unknown format {format!r} of {self.kind}; known are: auto, {known}')
            return self.readers[format](path, **options)
        fitting = [name for name, reader in self.readers.items() if reader.sniff(path)]
        if len(fitting) > 1:
            raise DataFormatError(path, value=f'looks like {" and ".join(fitting)}', hint='say which with format=')
        if not fitting:
            raise DataFormatError(path, value='empty' if is_empty(path) else f'not recognised as {self.kind}',
                                  hint=f'known formats of {self.kind} are: {known}')
        return self.readers[fitting[0]](path, **options)


def is_empty(path: Path) -> bool:
    """Whether a folder holds nothing, or a file nothing but blanks."""
    return not any(path.iterdir()) if path.is_dir() else path.stat().st_size < 4096 and not path.read_bytes().strip()


def _is_pattern(reader: type, path: Path) -> bool:
    """Whether ``path`` stands for several files of a format whose sets may be named so (``train-{000..099}.tar``)."""
    return getattr(reader, 'is_pattern', lambda _: False)(path)


RECORDS: FormatTable[Records] = FormatTable('a training set')
EVALS: FormatTable[EvalImages] = FormatTable('an evaluation set')


def open_records(path: str | Path, format: str = 'auto', **options: Any) -> Records:
    """Opens a training set and checks its structure; images are only read when asked for.

    Args:
        path: a ``.rec`` file or a folder that holds one, or an image folder with one directory an identity.
        format: a name in ``RECORDS.readers``, or ``'auto'`` to look.
        options: what the reader takes.

    Raises:
        DataFormatError: see :meth:`FormatTable.open`.
    """
    return RECORDS.open(path, format, **options)


def open_eval(path: str | Path, format: str = 'auto', **options: Any) -> PairSet | TemplateSet | SearchSet:
    """Opens an evaluation set and returns what is to be compared, without images and embeddings.

    Args:
        path: a list of pairs, or a folder that holds a set of pairs, templates or searches.
        format: a name in ``EVALS.readers``, or ``'auto'`` to look.
        options: what the reader takes.

    Raises:
        DataFormatError: see :meth:`FormatTable.open`.
    """
    return EVALS.open(path, format, **options).set

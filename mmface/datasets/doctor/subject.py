"""Opens whatever is to be examined, and hears all that its reader has to say."""
import inspect
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mmengine.logging import MMLogger

from ..formats.errors import AbsentImagesWarning, DataFormatError, DataFormatWarning, collect_faults
from ..formats.table import EVALS, RECORDS, is_empty
from .finding import Finding
from .parts import PARTS

_TABLES = (PARTS, EVALS, RECORDS)  # the surer a table's formats are of what is theirs, the earlier it is asked


@dataclass
class Subject:
    """Something on disk that was opened, or could not be.

    Attributes:
        path: what was named.
        format: the reader's name; ``'unknown'`` where none recognises it.
        reader: the reader, None where it could not be opened.
        has_images: whether the reader has images to look at.
        findings: what the reader said.
    """
    path: Path
    format: str
    reader: Any = None
    has_images: bool = False
    findings: list[Finding] = field(default_factory=list)


def open_subject(path: Path, format: str = 'auto', images: str | Path | None = None, lists_only: bool = False) -> Subject:
    """Opens a training set, an evaluation set, a part of one, or images. What is wrong becomes findings.

    Args:
        path: file, folder or pattern.
        format: a name in ``RECORDS``, ``EVALS`` or ``PARTS``; ``'auto'`` looks.
        images: the folder of the images of a list.
        lists_only: the list alone is to be examined.

    Raises:
        FileNotFoundError: where there is neither ``path`` nor anything that belongs to it.
        ValueError: for an unknown format, several that fit, or ``images`` for one that has its images inside.
        ImportError: where the format needs an extra.
    """
    beside = sorted(file.name for file in path.parent.glob('*') if file.stem == path.stem)
    if not (path.exists() or '{' in path.name or beside):
        raise FileNotFoundError(f'{path}: no such file or folder')
    name, reader = _choose(path, format)
    if reader is not None:
        return _open(path, name, reader, _options(name, reader, images, lists_only))
    value, hint = 'no such file', f'there is {", ".join(beside)} that belongs to it' if beside else ''
    if path.exists():
        value = 'empty' if is_empty(path) else 'not recognised as a data set'
        hint = 'known formats are: ' + ', '.join(sorted({name for table in _TABLES for name in table.readers}))
    return Subject(path, name, findings=[Finding('error', 'structure', str(path), '', value, hint)])


def _choose(path: Path, format: str) -> tuple[str, Any]:
    """The name of a format and its reader, None where no reader recognises ``path``."""
    known = [(name, reader) for table in _TABLES for name, reader in table.readers.items()]
    if format != 'auto':
        named = [(name, reader) for name, reader in known if name == format]
        if not named:
            raise ValueError(f'unknown format {format!r}; known are: auto, {", ".join(sorted({name for name, _ in known}))}')
        return next((choice for choice in named if _fits(choice[1], path)), named[0])
    for table in _TABLES:
        fitting = [(name, reader) for name, reader in table.readers.items() if _fits(reader, path)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting and not is_empty(path):
            raise ValueError(f'{path}: looks like {" and ".join(name for name, _ in fitting)}: say which with --format')
    return 'unknown', None


def _fits(reader: Any, path: Path) -> bool:
    return reader.sniff(path) if path.exists() else getattr(reader, 'is_pattern', lambda _: False)(path)


def _options(name: str, reader: Any, images: str | Path | None, lists_only: bool) -> dict[str, Any]:
    """The options that a reader takes."""
    taken = inspect.signature(reader).parameters
    if images is not None and 'images' not in taken:
        raise ValueError(f'a set of the format {name} has its images inside: leave the folder of images out')
    given = dict(images=images) if images is not None else {}
    return {**given, **(dict(lists_only=True) if lists_only and 'lists_only' in taken else {})}


def _open(path: Path, name: str, reader: Any, options: dict[str, Any]) -> Subject:
    subject = Subject(path, name)
    with collect_faults() as faults, _log_as_remarks(subject), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter('always')
        try:
            subject.reader = reader(path, **options)
        except DataFormatError as fault:
            faults.append(fault)
        except (ValueError, LookupError, TypeError):
            if not faults:  # else it is what was left after them that no reader could use
                raise
    subject.has_images = hasattr(subject.reader, 'read') and not any(warning.category is AbsentImagesWarning for warning in heard)
    for warning in heard:
        if isinstance(warning.message, DataFormatWarning):
            subject.findings.append(Finding.of(warning.message, 'structure'))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    subject.findings += [Finding.of(fault, 'structure') for fault in faults]
    return subject


@contextmanager
def _log_as_remarks(subject: Subject) -> Iterator[None]:
    """What readers log becomes findings of the kind ``'info'``, instead of lines between those of the report."""

    class Listener(logging.Handler):

        def emit(self, record: logging.LogRecord) -> None:
            path, _, message = record.getMessage().partition(': ')
            subject.findings.append(Finding('info', 'structure', path, '', message))

    logger = MMLogger.get_current_instance()
    usual, logger.handlers = logger.handlers, [Listener()]
    try:
        yield
    finally:
        logger.handlers = usual

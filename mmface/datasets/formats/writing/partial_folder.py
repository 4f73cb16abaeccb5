"""A folder that is written over hours: resumed after an interruption, and under its own name only when it is whole."""
import hashlib
import json
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from ..reader import Records

_SOURCE = 'source.json'


class PartialFolder:
    """``.NAME.partial`` beside ``NAME``; a context manager that gives the folder to write into.

    A block that ends well renames it. One that fails or is killed leaves it, and the next with the same source finds what was finished;
    one with another source begins anew.

    Args:
        path: the folder to make; must not exist.
        source: what decides about the content, for JSON; see :func:`describe_records`.

    Raises:
        FileExistsError: where ``path`` is taken.
    """

    def __init__(self, path: Path, source: dict[str, Any]) -> None:
        if path.exists():
            raise FileExistsError(f'{path} exists already: remove it or name another folder')
        self.path, self.source = path, source
        self.folder = path.with_name(f'.{path.name}.partial')

    def __enter__(self) -> Path:
        note, text = self.folder / _SOURCE, json.dumps(self.source, sort_keys=True)
        if not (note.is_file() and note.read_text() == text):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            note.write_text(text)
        return self.folder

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            return
        (self.folder / _SOURCE).unlink()
        self.folder.rename(self.path)
        handle = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def describe_records(records: Records) -> dict[str, Any]:
    """What tells one training set from another without reading its images."""
    status = records.path.stat() if records.path.exists() else None
    return dict(
        path=str(records.path.resolve()), changed=status and status.st_mtime_ns, images=len(records), classes=records.num_classes,
        labels=hashlib.sha256(records.labels.tobytes()).hexdigest())


def reopen(path: Path, size: int) -> BinaryIO:
    """Opens a file for writing behind its first ``size`` bytes, which are safe; what is there beyond them is cut off."""
    file = path.open('r+b' if path.exists() else 'w+b')
    file.truncate(size)
    file.seek(size)
    return file

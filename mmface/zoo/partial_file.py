"""The part of a download that is already there."""
import json
from pathlib import Path
from typing import BinaryIO

from mmface.utils.atomic_file import atomic_file


class PartialFile:
    """Bytes of a file that is not complete yet, and what the server said about the file they are of.

    Args:
        target: the file that they will become; they lie beside it under a hidden name.
        url: where they come from: bytes from another address are no beginning of this file, and are dropped.

    Attributes:
        path: the bytes.
        validator: the server's strong entity tag or date of modification: it resumes only where the file is still that one.
    """

    def __init__(self, target: Path, url: str) -> None:
        self.path = target.with_name(f'.{target.name}.part')
        self._note = target.with_name(f'.{target.name}.part.json')
        self.url = url
        self.validator: str | None = None
        try:
            note = json.loads(self._note.read_text(encoding='utf-8'))
            known = note['url'] == url
            self.validator = note['validator'] if known else None
        except (OSError, ValueError, KeyError, TypeError):
            known = False
        if not known:
            self.drop()

    @property
    def size(self) -> int:
        """How many bytes are there."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def restart(self, validator: str | None) -> None:
        """Begins anew with what the server says about the file now."""
        self.drop()
        self.validator = validator
        with atomic_file(self._note) as file:
            file.write(json.dumps(dict(url=self.url, validator=validator)).encode())

    def append(self) -> BinaryIO:
        """Open for more bytes at its end."""
        return self.path.open('ab')

    def drop(self) -> None:
        """Forgets what is there."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        self.validator = None

    def become(self, target: Path) -> None:
        """Gives the complete file its own name."""
        self.path.replace(target)
        self._note.unlink(missing_ok=True)

"""The hash that a file without a published one had when it first came."""
import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

from mmface.utils.atomic_file import atomic_file


@dataclass(frozen=True)
class Pin:
    """What came from an address the first time; anything else that comes from there later is refused.

    Attributes:
        url: the address.
        sha256: of the bytes that came.
        size: their number.
        first_seen: when, ISO 8601, UTC.
    """
    url: str
    sha256: str
    size: int
    first_seen: str

    @staticmethod
    def path(folder: Path, url: str) -> Path:
        """Where the pin of an address lies below a cache folder."""
        return folder / 'pins' / f'{hashlib.sha256(url.encode()).hexdigest()[:16]}.json'

    @classmethod
    def read(cls, folder: Path, url: str) -> 'Pin | None':
        """The pin of an address, None where nothing has come from there yet.

        Raises:
            ValueError: the pin's file is damaged.
        """
        path = cls.path(folder, url)
        if not path.is_file():
            return None
        try:
            pin = cls(**json.loads(path.read_text(encoding='utf-8')))
        except (ValueError, TypeError) as error:
            raise ValueError(f'{path}: not a pinned hash ({error}); remove it to accept the file anew') from error
        if pin.url != url:
            raise ValueError(f'{path}: pins {pin.url}, not {url}; remove it to accept the file anew')
        return pin

    @classmethod
    def write(cls, folder: Path, url: str, sha256: str, size: int) -> 'Pin':
        """Pins what has come from an address."""
        pin = cls(url, sha256, size, datetime.now(timezone.utc).isoformat(timespec='seconds'))
        with atomic_file(cls.path(folder, url)) as file:
            file.write(json.dumps(asdict(pin), indent=2).encode() + b'\n')
        return pin

"""Writes indexed RecordIO, all or nothing."""
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from .stream import RecordIOStream, pack_record


class RecordIOWriter(RecordIOStream):
    """Writes ``NAME.rec`` and ``NAME.idx`` under temporary names and gives them their own when closed; a context manager.

    Where the ``with`` block fails, both are removed and whatever was there before stays.

    Args:
        path: the ``.rec``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._temporary = {
            target: target.with_name(f'.{target.name}.{os.getpid()}.tmp')
            for target in (self.path, self.path.with_suffix('.idx'))
        }
        super().__init__(*(temporary.open('wb') for temporary in self._temporary.values()))

    def close(self) -> None:
        """Puts both files under their names. A stale index goes first, so that no moment shows one beside another set's records."""
        self.sync()
        super().close()
        self.path.with_suffix('.idx').unlink(missing_ok=True)
        for target, temporary in self._temporary.items():
            temporary.replace(target)

    def discard(self) -> None:
        """Removes what was written."""
        super().close()
        for temporary in self._temporary.values():
            temporary.unlink(missing_ok=True)

    def __enter__(self) -> 'RecordIOWriter':  # noqa: PYI034
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


def write_training_set(path: str | Path, identities: Iterable[Iterable[bytes]], size: tuple[int, int] = (112, 112)) -> tuple[int, int]:
    """Writes a training set as InsightFace does: images from key 1, a record an identity, the header in record 0 at the end, ``property``.

    Args:
        path: the ``.rec``; ``.idx`` and ``property`` come beside it.
        identities: the encoded images of class 0, 1, ...; may be generators.
        size: height and width, for ``property``.

    Returns:
        The number of images and of identities.

    Raises:
        ValueError: for an identity without image.
    """
    path, key, ranges = Path(path), 1, []
    with RecordIOWriter(path) as writer:
        for label, images in enumerate(identities):
            first = key
            for image in images:
                writer.write(key, pack_record(label, key, bytes(image)))
                key += 1
            if key == first:
                raise ValueError(f'{path}: class {label} has no image')
            ranges.append((first, key))
        writer.write_identities(ranges, key)
        path.with_name('property').unlink(missing_ok=True)
    _write_text(path.with_name('property'), f'{len(ranges)},{size[0]},{size[1]}\n')
    return key - 1, len(ranges)


def _write_text(path: Path, text: str) -> None:
    temporary = path.with_name(f'.{path.name}.{os.getpid()}.tmp')
    temporary.write_text(text)
    temporary.replace(path)

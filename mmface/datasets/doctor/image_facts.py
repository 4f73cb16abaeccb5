"""Looks at every image of a set once, in several processes."""
import hashlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from mmface.utils.progress import Progress

from ..decode import decode_image
from ..formats.errors import DataFormatError

_CHUNK = 256
_FEW = 4 * _CHUNK  # so few images are faster looked at than processes started


class ImageFacts(NamedTuple):
    """What is known of N images.

    Attributes:
        digest: uint64 ``[N]``, a hash of the bytes as stored; of no meaning where an image cannot be read.
        height: int32 ``[N]``, 0 where it cannot be decoded.
        width: int32 ``[N]``, likewise.
        redness: float32 ``[N]``, mean of red minus blue, -255 to 255, over the middle of the image; NaN for grey ones.
        faults: what cannot be read or decoded, in the order of the images.
    """
    digest: np.ndarray
    height: np.ndarray
    width: np.ndarray
    redness: np.ndarray
    faults: list[DataFormatError]

    @property
    def good(self) -> np.ndarray:
        """Which of the N images can be decoded."""
        return self.height > 0


def look_at_images(reader: Any, processes: int = 1) -> ImageFacts:
    """Reads, hashes and decodes every image.

    Args:
        reader: see :class:`~mmface.datasets.formats.reader.Reader`.
        processes: how many work at it; the result does not depend on it.
    """
    n = len(reader)
    parts = [range(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]
    found: list[ImageFacts] = []
    with Progress(f'images of {reader.path.name}', n) as progress:
        for facts in _run(reader, parts, 1 if n <= _FEW else processes):
            found.append(facts)
            progress.advance(len(facts.height))
    digest, height, width, redness = (np.concatenate(column) for column in zip(*(facts[:4] for facts in found), strict=True))
    return ImageFacts(digest, height, width, redness, [fault for facts in found for fault in facts.faults])


def _run(reader: Any, parts: list[range], processes: int) -> Iterator[ImageFacts]:
    if processes == 1:
        yield from (_look(reader, part) for part in parts)
        return
    with ProcessPoolExecutor(processes, initializer=_set_reader, initargs=(reader, )) as pool:
        yield from pool.map(_look_here, parts)


_reader: Any = None


def _set_reader(reader: Any) -> None:
    global _reader  # noqa: PLW0603 (the one way to hand a pool's processes something once)
    _reader = reader


def _look_here(part: range) -> ImageFacts:
    return _look(_reader, part)


def _look(reader: Any, part: range) -> ImageFacts:
    n = len(part)
    facts = ImageFacts(np.zeros(n, np.uint64), np.zeros(n, np.int32), np.zeros(n, np.int32), np.full(n, np.nan, np.float32), [])
    for row, at in enumerate(part):
        try:
            data = reader.read(at)
            facts.digest[row] = int.from_bytes(hashlib.blake2b(memoryview(data).tobytes(), digest_size=8).digest(), 'little')
            image = decode_image(data)
        except DataFormatError as fault:
            facts.faults.append(fault)
        except ValueError as error:
            facts.faults.append(DataFormatError(reader.path, reader.where(at), str(error), 'replace or remove it'))
        else:
            facts.height[row], facts.width[row] = image.shape[:2]
            facts.redness[row] = _redness(image)
    return facts


def _redness(image: np.ndarray) -> float:
    height, width = image.shape[:2]
    middle = image[height // 4:height - height // 4, width // 4:width - width // 4].astype(np.int16)
    difference = middle[..., 0] - middle[..., 2]
    return float(difference.mean()) if difference.any() else np.nan

"""Finds the samples of a tar shard, by webdataset's rules, without unpacking it."""
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import DataFormatError, read_each

_IMAGES = {'jpg', 'jpeg', 'png', 'bmp', 'webp', 'gif', 'ppm', 'tif', 'tiff'}
_PICKLED = {'pyd', 'pickle', 'pkl', 'pth', 'pt'}
_LARGEST_LABEL = 1 << 20  # bytes of a .cls or .json
_CUT = 'the file is cut short or damaged: copy it again'
_PLAIN = 'expected an uncompressed tar: of a compressed one no image can be read by itself'


class ShardIndex(NamedTuple):
    """The N samples of a shard.

    Attributes:
        offsets: int64, the byte where the image begins.
        sizes: int64, its bytes.
        labels: float64, as they stand.
        ended: whether the mark that ends a tar is there.
    """
    offsets: np.ndarray
    sizes: np.ndarray
    labels: np.ndarray
    ended: bool


def index_shard(path: Path, label: str = 'label') -> ShardIndex:
    """Reads all headers and labels.

    Args:
        path: the tar.
        label: the label's key in a ``.json``.

    Raises:
        DataFormatError: naming the member that is missing, pickled, twice there, or no label.
        ImportError: without webdataset.
    """
    try:
        archive = tarfile.open(path, 'r:')  # noqa: SIM115 (closed below)
    except tarfile.TarError as error:
        raise DataFormatError(path, value=str(error), hint=_PLAIN) from None
    with archive:
        samples = read_each(lambda members: _sample(path, archive, members, label), _samples(path, archive))
        ended = _is_ended(path, archive)
    if not samples:
        raise DataFormatError(path, value='no sample', hint='expected KEY.jpg with KEY.cls or KEY.json')
    offsets, sizes, labels = zip(*samples, strict=True)
    return ShardIndex(np.array(offsets, np.int64), np.array(sizes, np.int64), np.array(labels, np.float64), ended)


def _samples(path: Path, archive: tarfile.TarFile) -> Iterator[dict[str, tarfile.TarInfo]]:
    """Yields the members of each sample by suffix."""
    sample: dict[str, tarfile.TarInfo] = {}
    key = None
    try:
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # or it keeps them all
            name, suffix = _split(path, member)
            if name is None:
                continue
            if name != key and sample:
                yield sample
                sample = {}
            if suffix in sample:
                raise DataFormatError(path, member.name, 'twice', 'a sample has one member of a kind')
            key, sample[suffix] = name, member
    except (tarfile.TarError, EOFError) as error:
        raise DataFormatError(path, f'offset {archive.offset}', str(error), _CUT) from None
    if sample:
        yield sample


def _split(path: Path, member: tarfile.TarInfo) -> tuple[str | None, str]:
    """The key and the suffix of a member, or None and '' for what webdataset passes over: directories, hidden files, ``__meta__``."""
    from webdataset.tariterators import base_plus_ext
    if member.isdir() or re.match(r'__[^/]*__($|/)', member.name):
        return None, ''
    name, suffix = base_plus_ext(member.name)
    if name is None:
        return None, ''
    if not member.isreg():
        raise DataFormatError(path, member.name, 'a link or device', 'expected regular files')
    suffix = suffix.lower()
    if suffix.rpartition('.')[2] in _PICKLED:
        raise DataFormatError(path, member.name, 'a pickled member', 'nothing is unpickled: expected an image, .cls or .json')
    return name, suffix


def _sample(path: Path, archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], label: str) -> tuple[int, int, float]:
    first = next(iter(members.values())).name
    images = [suffix for suffix in members if suffix in _IMAGES]
    if len(images) != 1:
        raise DataFormatError(path, first, f'{len(images)} images in this sample', f'it has {", ".join(members)}; expected one image')
    for suffix, parse in (('cls', _parse_cls), ('json', _parse_json)):
        if suffix in members:
            member = members[suffix]
            if member.size > _LARGEST_LABEL:
                raise DataFormatError(path, member.name, f'{member.size} bytes', 'expected a label')
            text = archive.extractfile(member).read()
            if len(text) != member.size:
                raise DataFormatError(path, member.name, 'ends beyond the file', _CUT)
            image = members[images[0]]
            return image.offset_data, image.size, parse(path, member.name, text, label)
    raise DataFormatError(path, first, 'no label', f'it has {", ".join(members)}; expected .cls or .json beside the image')


def _parse_cls(path: Path, name: str, text: bytes, _: str) -> float:
    if not re.fullmatch(rb'\s*[+-]?[0-9]{1,15}\s*', text):
        raise DataFormatError(path, name, repr(text[:40]), 'expected a whole number')
    return float(text)


def _parse_json(path: Path, name: str, text: bytes, label: str) -> float:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataFormatError(path, name, f'JSON error: {error}', 'expected an object with a label') from None
    if isinstance(value, dict):
        if label not in value:
            raise DataFormatError(path, name, f'no key {label}', f'found: {", ".join(value)}')
        value = value[label]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataFormatError(path, name, f'{label} {value!r}'[:80], 'expected a whole number')
    return float(value)


def _is_ended(path: Path, archive: tarfile.TarFile) -> bool:
    """Looks behind the last member: Python's reader takes whatever it does not understand for the end."""
    archive.fileobj.seek(archive.offset)
    block = archive.fileobj.read(tarfile.BLOCKSIZE)
    if block.strip(b'\0') or 0 < len(block) < tarfile.BLOCKSIZE:
        raise DataFormatError(path, f'offset {archive.offset}', 'no header of a member', _CUT)
    return bool(block)

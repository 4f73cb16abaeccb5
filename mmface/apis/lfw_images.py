"""LFW's images and the people of its folds, from a folder or a tar archive."""
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from mmface.datasets.decode import decode_image
from mmface.datasets.formats import DataFormatError
from mmface.datasets.formats.common.pair_lists import Pair
from mmface.datasets.formats.lfw_pairs import ImageKey, read_pairs

PARTS = 10  #: into which the pairs of a fold are cut


class Image(NamedTuple):
    """An image somewhere in the source: its name there, and how to get its bytes."""
    name: str
    read: Callable[[], bytes]


def find_images(source: Path) -> dict[ImageKey, Image]:
    """The images among the files of a folder or tar archive, by person and number. Nothing is unpacked, links are passed over.

    Raises:
        DataFormatError: no image with a name as LFW gives it, two of the same person and number, or a damaged archive.
    """
    images: dict[ImageKey, Image] = {}
    for file in _list_files(source):
        person, name = PurePosixPath(file.name).parts[-2:] if '/' in file.name else ('', file.name)
        match = re.fullmatch(re.escape(person) + r'_([0-9]{1,9})\.(jpg|jpeg|png)', name)
        if match and person != '..':
            key = ImageKey(person, int(match[1]))
            if key in images:
                raise DataFormatError(source, file.name, f'the same person and number as {images[key].name}', 'keep one of them')
            images[key] = file
    if not images:
        raise DataFormatError(source, value='no image named <Name>/<Name>_0001.jpg', hint='expected the layout of LFW')
    return images


def hold_out(path: Path, fold: int) -> tuple[list[Pair], list[Pair]]:
    """The matched and the mismatched pairs of a fold, counted from 1, in the order of the list.

    Raises:
        DataFormatError: where there is no such fold, or it cannot be cut into equal parts.
    """
    pairs = read_pairs(path)
    held = [pair for pair in pairs if pair.fold == fold - 1]
    if not held:
        raise DataFormatError(path, value=f'no fold {fold}', hint=f'it has 1 to {pairs[-1].fold + 1}')
    if len(held) % (2 * PARTS):
        raise DataFormatError(path, value=f'{len(held)} pairs in fold {fold}', hint=f'they cannot be cut into {PARTS} equal parts')
    return [pair for pair in held if pair.same], [pair for pair in held if not pair.same]


def group_people(images: dict[ImageKey, Image], held: set[str], min_images: int) -> dict[str, list[ImageKey]]:
    """The people to train on, in the order of their names, with their images in the order of their numbers."""
    people: dict[str, list[ImageKey]] = {}
    for key in sorted(images):
        if key.person not in held:
            people.setdefault(key.person, []).append(key)
    return {person: keys for person, keys in people.items() if len(keys) >= min_images}


def read_image(source: Path, image: Image, size: tuple[int, ...] | None = None) -> tuple[bytes, tuple[int, ...]]:
    """The encoded image with its height and width, after making sure that it decodes and has the expected size."""
    data = image.read()
    try:
        found = decode_image(data).shape[:2]
    except ValueError as error:
        raise DataFormatError(source, image.name, str(error), 'replace or remove it') from None
    if size not in (None, found):
        raise DataFormatError(source, image.name, f'{found[0]} x {found[1]} pixels', f'others have {size[0]} x {size[1]}: align them all')
    return data, found


def _list_files(source: Path) -> Iterator[Image]:
    if source.is_dir():
        for path in sorted(source.rglob('*')):
            if path.is_file():
                yield Image(path.relative_to(source).as_posix(), path.read_bytes)
        return
    try:
        archive = tarfile.open(source)  # noqa: SIM115 (the images are read from it later)
    except tarfile.TarError as error:
        raise DataFormatError(source, value='neither a folder nor a complete tar archive') from error
    for member in archive:
        if member.isfile():
            yield Image(member.name, lambda member=member: archive.extractfile(member).read())

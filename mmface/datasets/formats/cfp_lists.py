"""The text of CFP's lists of images and of its splits."""
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .common.pair_lists import Line, check_name, read_first_line, read_lines
from .errors import DataFormatError, read_each

#: The images in the lists of frontal (F) and profile (P) images, as CFP is released.
SIZES = {'F': 5000, 'P': 2000}
_IMAGE = re.compile(r'(-?[0-9]{1,9})\s+(.*/(?:frontal|profile)/.*)')
_PAIR = re.compile(r'(-?[0-9]{1,9})\s*,\s*(-?[0-9]{1,9})')


class CFPImage(NamedTuple):
    """Image ``number``, from 1, of the list of ``pose``, F or P."""
    pose: str
    number: int


def read_images(path: Path) -> list[str]:
    """The files of a list, relative to the folder of the people: ``'001/frontal/01.jpg'``.

    Raises:
        DataFormatError: naming the line, where a number is missing or a path leads elsewhere.
    """
    files = []
    for expected, (line, text) in enumerate(read_lines(path), 1):
        match = _IMAGE.fullmatch(text)
        if not match:
            raise DataFormatError(path, f'line {line}', repr(text[:80]), 'expected "number ../Data/Images/001/frontal/01.jpg"')
        if int(match[1]) != expected:
            raise DataFormatError(path, f'line {line}', f'number {match[1]}, expected {expected}', 'the list has a gap')
        parts = [check_name(path, f'line {line}', part) for part in match[2].removeprefix('../').split('/')]
        if len(parts) < 3:
            raise DataFormatError(path, f'line {line}', match[2], 'expected a person, frontal or profile, and a file')
        files.append('/'.join(parts[-3:]))
    return files


def read_split(path: Path, protocol: str, sizes: Mapping[str, int]) -> list[tuple[CFPImage, CFPImage, int]]:
    """The pairs in ``same.txt`` or ``diff.txt``, with their lines, from 1.

    Args:
        path: the file.
        protocol: the poses of the first and second image of a pair: FF or FP.
        sizes: pose -> images in its list.

    Raises:
        DataFormatError: naming the line, where a number is in no list.
    """
    return read_each(lambda line: _read_pair(path, protocol, sizes, line), read_lines(path))


def _read_pair(path: Path, protocol: str, sizes: Mapping[str, int], line: Line) -> tuple[CFPImage, CFPImage, int]:
    match, where = _PAIR.fullmatch(line.text), f'line {line.number}'
    if not match:
        raise DataFormatError(path, where, repr(line.text[:80]), 'expected two numbers with a comma between')
    first, second = (CFPImage(pose, int(number)) for pose, number in zip(protocol, match.groups(), strict=True))
    for image in (first, second):
        if image.number < 1:
            raise DataFormatError(path, where, f'number {image.number}', 'numbers begin at 1')
        if image.number > sizes[image.pose]:
            raise DataFormatError(path, where, f'number {image.number}, list {image.pose} has {sizes[image.pose]}',
                                  'the split and the list are of different sets')
    return first, second, line.number


def looks_like_cfp(path: Path) -> bool:
    """Whether a text file is a list of images or a split."""
    line = read_first_line(path)
    return path.suffix == '.txt' and bool(_IMAGE.fullmatch(line) or _PAIR.fullmatch(line))


def refuse_alone(path: Path) -> DataFormatError:
    """The error to raise for one of these files on its own; raised here where something else is wrong with it.

    Raises:
        DataFormatError: as the readers of the file do. The lists are taken to be as long as CFP's are.
    """
    if _PAIR.fullmatch(read_first_line(path)):
        read_split(path, 'FP' if 'FP' in path.parts else 'FF', SIZES)
    else:
        read_images(path)
    return DataFormatError(path, value='a single list of CFP', hint='open the folder that holds Protocol and Data')

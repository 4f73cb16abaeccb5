"""Which group each image of a set is of: what error rates are compared over."""
import csv
from collections.abc import Sequence
from pathlib import Path, PurePath

from .errors import DataFormatError

_HEADERS = ('image', 'path', 'file', 'name', 'identity', 'person')
_NONE = ''  # the group of an image that no line names


def read_groups(path: str | Path, paths: Sequence[str], identities: Sequence[str] | None = None) -> list[str]:
    """The group of each of M images, from a list with ``name, group`` a line; ``''`` for images that the list does not name.

    Tabs separate where the first line has one, else commas. A name is a person's, for all images of that person, or the end of an image's
    path (``Name/Name_0001.jpg``). A first line ``image,group`` or ``identity,group`` is skipped, as are blank lines.

    Args:
        path: the list.
        paths: of the M images.
        identities: M names of people, or None where the set does not name them.

    Raises:
        DataFormatError: naming the line, for another number of fields, an empty one, a name that no image has or that is the end of several
            paths, or an image that gets two groups.
    """
    path = Path(path)
    images = _images_by_name(paths, identities)
    group, line_of = [_NONE] * len(paths), [0] * len(paths)
    for number, name, label in _read_lines(path):
        where = f'line {number}'
        rows = images.get(name)
        if rows is None:
            raise DataFormatError(path, where, f'name {name!r}', 'no person and no image of the set is called so')
        if not rows:
            raise DataFormatError(path, where, f'name {name!r}', 'several images end so: write more of the path')
        for row in rows:
            if group[row] not in (_NONE, label):
                raise DataFormatError(path, where, f'group {label!r}', f'line {line_of[row]} puts {paths[row]} into {group[row]!r}')
            group[row], line_of[row] = label, number
    if not any(group):
        raise DataFormatError(path, value='no group', hint='expected "name,group" a line')
    return group


def _images_by_name(paths: Sequence[str], identities: Sequence[str] | None) -> dict[str, list[int]]:
    """The rows that every name stands for; none where several paths end so."""
    rows: dict[str, list[int]] = {}
    for row, image in enumerate(paths):
        parts = PurePath(image).as_posix().split('/')
        for at in range(len(parts)):
            end = '/'.join(parts[at:])
            rows[end] = [] if end in rows else [row]
    people: dict[str, list[int]] = {}
    for row, person in enumerate(identities or ()):
        people.setdefault(person, []).append(row)
    return rows | people


def _read_lines(path: Path) -> list[tuple[int, str, str]]:
    """``(line, name, group)``."""
    try:
        text = path.read_text(encoding='utf-8-sig')
    except UnicodeDecodeError as error:
        raise DataFormatError(path, value=f'byte {error.start} is not UTF-8', hint='save the list as UTF-8') from error
    lines: list[tuple[int, str, str]] = []
    reader = csv.reader(text.splitlines(), delimiter='\t' if '\t' in text.partition('\n')[0] else ',')
    for fields in reader:
        cells = [field.strip() for field in fields]
        if not any(cells) or (not lines and len(cells) == 2 and cells[0].lower() in _HEADERS and cells[1].lower() == 'group'):
            continue
        if len(cells) != 2 or not all(cells):
            raise DataFormatError(path, f'line {reader.line_num}', f'{len(cells)} fields: {cells}', 'expected "name,group"')
        lines.append((reader.line_num, cells[0], cells[1]))
    return lines

"""The lists of IJB-S: who is in which video, galleries and probes, as templates of (person, video or still)."""
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from mmface.structures import TemplateList

from .common.columns import line_of, read_columns
from .errors import DataFormatError, DataFormatWarning

Source = tuple[int, str]  #: a person in a video or still: (3, 'videos_3001'), (3, 'img_102')
Templates = dict[tuple[Source, ...], int]  #: the number of every template, in the order in which they were met

_FILE = re.compile(r'(?:.*/)?(videos|img)/([0-9]+)\.\w+')


def read_people(path: Path) -> dict[str, dict[int, None]]:
    """Who is in each video or still, in the order of the list."""
    table = read_columns(path, [('SUBJECT_ID', int), ('FILENAME', str)], ',')
    first: dict[str, int] = {}
    for row, file in enumerate(table['FILENAME']):
        first.setdefault(file, row)
    keys = {file: _key(path, row, file) for file, row in first.items()}
    people: dict[str, dict[int, None]] = {key: {} for key in keys.values()}
    for subject, file in zip(table['SUBJECT_ID'].tolist(), table['FILENAME'], strict=True):
        people[keys[file]][subject] = None
    return people


def read_gallery(path: Path, ids: Templates) -> TemplateList:
    """A template for all stills of a person, and for each of their videos."""
    table = read_columns(path, [('TEMPLATE_ID', str), ('SUBJECT_ID', int), ('FILENAME', str)], ',')
    sources: dict[Source, dict[Source, None]] = {}
    for row, (subject, file) in enumerate(zip(table['SUBJECT_ID'].tolist(), table['FILENAME'], strict=True)):
        key = _key(path, row, file)
        sources.setdefault((subject, 'img' if key.startswith('img') else key), {})[subject, key] = None
    return _number([tuple(group) for group in sources.values()], ids)


def read_probes(path: Path, people: Mapping[str, Iterable[int]], ids: Templates) -> TemplateList:
    """A template for each person in each listed video or still."""
    keys = [_key(path, row, file) for row, file in enumerate(read_columns(path, [('FILENAME', str)], ',')['FILENAME'])]
    unknown = [key for key in keys if key not in people]
    if unknown:
        warnings.warn(DataFormatWarning(path, value=f'the metadata know nobody in {unknown[0]}',
                                        hint=f'nor in {len(unknown)} of {len(keys)} videos and stills'), stacklevel=2)
    return _number([((subject, key), ) for key in dict.fromkeys(keys) for subject in people.get(key, ())], ids)


def all_videos(subjects: np.ndarray, people: Mapping[str, Iterable[int]], ids: Templates) -> TemplateList:
    """A template for each person, of all their videos."""
    videos: dict[int, list[Source]] = {subject: [] for subject in subjects.tolist()}
    for key, seen in people.items():
        for subject in seen if key.startswith('videos') else ():
            if subject in videos:
                videos[subject].append((subject, key))
    return _number([tuple(group) for group in videos.values()], ids)


def _number(templates: Sequence[tuple[Source, ...]], ids: Templates) -> TemplateList:
    """Gives every template that is new the next number."""
    return TemplateList(np.array([ids.setdefault(sources, len(ids)) for sources in templates], np.int64),
                        np.array([sources[0][0] for sources in templates], np.int64))


def _key(path: Path, row: int, file: str) -> str:
    """``'videos_3001'`` of ``'videos/3001.mp4'``."""
    match = _FILE.fullmatch(file)
    if not match:
        raise DataFormatError(path, line_of(path, row, header=True), f'file {file}', 'expected videos/<number>.mp4 or img/<number>.jpg')
    return f'{match[1]}_{match[2]}'

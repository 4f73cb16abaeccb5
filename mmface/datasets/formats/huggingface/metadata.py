"""What CVLface's ``metadata.pt`` says about the images beside it: templates and pairs of IJB, or TinyFace's lists."""
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from mmface.structures import SearchSet, TemplateSet

from ..errors import DataFormatError
from ..pickles.metadata_pt import read_metadata_pt

_OF_TEMPLATES = ('faceness_scores', 'templates', 'medias', 'label', 'p1', 'p2')
_OF_SEARCHES = ('image_paths', 'probe_paths', 'gallery_paths', 'distractor_paths')
_NAME = re.compile(r'([0-9]{1,18})_[^/]*')
_DISTRACTOR = -100


def set_of_metadata(path: Path, name: str, paths: Sequence[str]) -> TemplateSet | SearchSet:
    """The set whose images are ``paths``, in their order.

    Raises:
        DataFormatError: naming the key and row that is missing, too long or of no image.
    """
    values = read_metadata_pt(path)
    for keys, make in ((_OF_TEMPLATES, _template_set), (_OF_SEARCHES, _search_set)):
        if all(key in values for key in keys):
            return make(path, name, paths, values)
    raise DataFormatError(path, value=f'keys {", ".join(values)}', hint=f'expected {", ".join(_OF_TEMPLATES)} or {", ".join(_OF_SEARCHES)}')


def _template_set(path: Path, name: str, paths: Sequence[str], values: Mapping[str, np.ndarray]) -> TemplateSet:
    _check_lengths(path, values, _OF_TEMPLATES[:3], len(paths), 'images')
    _check_lengths(path, values, _OF_TEMPLATES[3:], len(values['label']), 'labels')
    scores, label = np.asarray(values['faceness_scores'], np.float64), np.asarray(values['label'])
    for key, wrong in (('faceness_scores', ~np.isfinite(scores)), ('label', ~np.isin(label, (0, 1)))):
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise DataFormatError(path, f'{key} {at}', f'{values[key][at]}', f'{wrong.sum()} of {len(wrong)} values are wrong')
    pairs = np.stack([np.asarray(values[key], np.int64) for key in ('p1', 'p2')], axis=1)
    absent = np.flatnonzero(~np.isin(pairs, values['templates']).all(1))
    if absent.size:
        at = int(absent[0])
        raise DataFormatError(path, f'pair {at}', f'templates {pairs[at].tolist()}', f'one has no image; so have {absent.size} pairs')
    return TemplateSet(name, paths, values['templates'], values['medias'], scores, pairs=pairs, same=label == 1)


def _search_set(path: Path, name: str, paths: Sequence[str], values: Mapping[str, np.ndarray]) -> SearchSet:
    """Images are matched by their base names, as CVLface does; the person is the number that the name begins with."""
    _check_lengths(path, values, _OF_SEARCHES[:1], len(paths), 'images')
    row: dict[str, int] = {}
    for at, image in enumerate(paths):
        if row.setdefault(_stem(image), at) != at:
            raise DataFormatError(path, f'image {at}', image, f'called like image {row[_stem(image)]}: names must differ')
    probe, gallery, distractor = ([_row_of(path, key, at, image, row) for at, image in enumerate(values[key])] for key in _OF_SEARCHES[1:])
    ids = np.full(len(paths), _DISTRACTOR, np.int64)
    for at in (*probe, *gallery):
        match = _NAME.fullmatch(_stem(paths[at]))
        if not match:
            raise DataFormatError(path, f'image {at}', paths[at], 'expected <id>_<n>.jpg')
        ids[at] = int(match[1])
    return SearchSet(name, paths, np.array(probe), np.array(gallery), np.array(distractor), ids)


def _row_of(path: Path, key: str, at: int, image: str, row: Mapping[str, int]) -> int:
    if _stem(image) not in row:
        raise DataFormatError(path, f'{key} {at}', image, 'no image of the set is called so')
    return row[_stem(image)]


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _check_lengths(path: Path, values: Mapping[str, np.ndarray], keys: Sequence[str], length: int, of: str) -> None:
    for key in keys:
        if len(values[key]) != length:
            raise DataFormatError(path, key, f'{len(values[key])} values', f'there are {length} {of}')

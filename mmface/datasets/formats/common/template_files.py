"""The lists that IJB-B, IJB-C and IJB-S share in kind: templates with their people, and pairs of templates with a label."""
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mmface.structures import TemplateList

from ..errors import DataFormatError, DataFormatWarning
from .columns import line_of, read_columns


def read_template_list(path: Path) -> TemplateList:
    """Reads TEMPLATE_ID and SUBJECT_ID, the first columns of a comma-separated list with a line for every image of a template.

    Returns:
        Each template once, in the order of the list.

    Raises:
        DataFormatError: for a list without header, ids that are no whole numbers, or a template of two people.
    """
    table = read_columns(path, [('TEMPLATE_ID', int), ('SUBJECT_ID', int)], ',')
    template, subject = table['TEMPLATE_ID'], table['SUBJECT_ID']
    _, first, inverse = np.unique(template, return_index=True, return_inverse=True)
    wrong = np.flatnonzero(subject != subject[first][inverse])
    if wrong.size:
        row = int(wrong[0])
        raise DataFormatError(path, line_of(path, row, header=True),
                              f'template {template[row]} has subjects {subject[first][inverse][row]} and {subject[row]}',
                              'a template shows one person')
    first.sort()
    return TemplateList(template[first], subject[first])


def check_galleries(path: Path, galleries: Mapping[str, TemplateList]) -> None:
    """Checks that nobody is in two galleries, as open-set search needs.

    Raises:
        DataFormatError: naming the person and the galleries.
    """
    owner: dict[int, str] = {}
    for name, gallery in galleries.items():
        for subject in np.unique(gallery.subject).tolist():
            if subject in owner:
                raise DataFormatError(path, value=f'subject {subject} in {owner[subject]} and {name}', hint='galleries share nobody')
            owner[subject] = name


def read_template_pairs(path: Path, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reads lines of enrolment template, verification template and label (1 for one person).

    Args:
        path: the list.
        known: ascending ids of the templates that have an image.

    Returns:
        int64 ``[P, 2]`` and bool ``[P]``.

    Raises:
        DataFormatError: naming the line, for a label that is not 0 or 1, a template without image, or a pair with both labels.

    Warns:
        DataFormatWarning: for pairs that are repeated.
    """
    table = read_columns(path, [('template 1', int), ('template 2', int), ('label', int)])
    label = table['label'].copy()
    wrong = np.flatnonzero((label < 0) | (label > 1))
    if wrong.size:
        raise DataFormatError(path, line_of(path, int(wrong[0])), f'label {label[wrong[0]]}', 'expected 1 for one person or 0')
    pairs = np.stack([table['template 1'], table['template 2']], 1)
    del table
    first, second = (_places(path, pairs[:, side], known) for side in (0, 1))
    _check_repetitions(path, pairs, np.minimum(first, second) * len(known) + np.maximum(first, second), label)
    return pairs, label == 1


def _places(path: Path, column: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The places in ``known`` of the templates of a column."""
    places = np.searchsorted(known, column)
    places[places == len(known)] = 0
    absent = np.flatnonzero(known[places] != column)
    if absent.size:
        row = int(absent[0])
        hint = f'nor has one in {absent.size - 1} further lines' if absent.size > 1 else 'it cannot be compared'
        raise DataFormatError(path, line_of(path, row), f'template {column[row]} has no image', hint)
    return places


def _check_repetitions(path: Path, pairs: np.ndarray, keys: np.ndarray, label: np.ndarray) -> None:
    """Looks for pairs that occur twice, by keys that are the same in either order."""
    ordered = np.sort(keys * 2 + label)
    again = np.flatnonzero(ordered[1:] >> 1 == ordered[:-1] >> 1)
    if not again.size:
        return
    contrary = again[ordered[again] != ordered[again + 1]]
    rows = np.flatnonzero(keys == ordered[(contrary if contrary.size else again)[0]] >> 1)
    if contrary.size:
        rows = np.array([rows[label[rows] == value][0] for value in (0, 1)])
    lines = f'lines {" and ".join(line_of(path, row).removeprefix("line ") for row in sorted(rows[:2].tolist()))}'
    value = f'templates {pairs[rows[0], 0]} and {pairs[rows[0], 1]}'
    if contrary.size:
        raise DataFormatError(path, lines, f'{value} with label 0 and with label 1', 'they show one person or they do not')
    hint = f'{again.size} pairs are repeated; each counts as often as it stands'
    warnings.warn(DataFormatWarning(path, lines, value, hint), stacklevel=2)

"""Looks for images that a set holds more than once."""
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .finding import Finding
from .image_facts import ImageFacts

_SHOWN = 5


def check_duplicates(reader: Any, facts: ImageFacts, identities: Sequence) -> Iterator[Finding]:
    """Images with the same bytes: within an identity they count twice, in two identities one of the labels is wrong.

    Args:
        reader: of N images.
        facts: theirs.
        identities: N names or numbers of people.
    """
    for rows in _groups(facts):
        same = _equal(reader, rows)
        people = sorted({str(identities[row]) for row in same})
        if len(same) > 1:
            where = ', '.join(reader.where(row) for row in same[:_SHOWN]) + ' ...' * (len(same) > _SHOWN)
            value = f'{len(same)} times the same image'
            if len(people) == 1:
                yield Finding('warn', 'duplicates', str(reader.path), where, f'{value} of identity {people[0]}', 'it weighs that much more')
            else:
                yield Finding('warn', 'duplicates', str(reader.path), where, f'{value}, of the identities {", ".join(people[:_SHOWN])}',
                              'at most one of them can be right')


def _groups(facts: ImageFacts) -> Iterator[list[int]]:
    """Rows of one hash, in the order of the first."""
    rows = np.flatnonzero(facts.good)
    order = rows[np.argsort(facts.digest[rows], kind='stable')]
    cuts = np.flatnonzero(np.diff(facts.digest[order])) + 1
    groups = [group.tolist() for group in np.split(order, cuts) if len(group) > 1] if cuts.size < len(order) - 1 else []
    yield from sorted(groups)


def _equal(reader: Any, rows: list[int]) -> list[int]:
    """Those whose bytes are the first's: a hash of 64 bits may be shared by chance."""
    first = memoryview(reader.read(rows[0])).tobytes()
    return [row for row in rows if memoryview(reader.read(row)).tobytes() == first]

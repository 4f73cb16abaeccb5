"""The doctor: everything that is wrong with a set, in one pass."""
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..formats.table import EVALS, RECORDS
from .classes import check_classes
from .colour import check_colour
from .comparisons import check_comparisons
from .diagnosis import Diagnosis
from .duplicates import check_duplicates
from .finding import Finding
from .image_facts import look_at_images
from .sizes import check_sizes
from .subject import Subject, open_subject


def examine(path: str | Path,
            format: str = 'auto',
            images: str | Path | None = None,
            lists_only: bool = False,
            size: Sequence[int] | None = None,
            processes: int | None = None) -> Diagnosis:
    """Opens a set, reads every image once, and reports all that is wrong or odd.

    Args:
        path: a training set, an evaluation set, one of their lists, a file of embeddings, an image or a folder of images.
        format: see ``RECORDS``, ``EVALS`` and ``PARTS``; ``'auto'`` looks.
        images: the folder of the images of a list.
        lists_only: looks at no image.
        size: (height, width) that every image must have; None where one size is enough.
        processes: how many look at images; by default one a core. The result does not depend on it.

    Raises:
        FileNotFoundError: where there is nothing.
        ValueError: for an unknown format, or several that fit.
        ImportError: where the format needs an extra.
    """
    subject = open_subject(Path(path), format, images, lists_only)
    num_images = len(subject.reader) if hasattr(subject.reader, 'read') else 0
    diagnosis = Diagnosis(str(path), subject.format, num_images, _count_classes(subject.reader), [])
    checks = _check(subject, lists_only, size, processes or os.cpu_count() or 1)
    return diagnosis.with_findings([*subject.findings, *checks])


def _check(subject: Subject, lists_only: bool, size: Sequence[int] | None, processes: int) -> Iterator[Finding]:
    reader, kind = subject.reader, type(subject.reader)
    if reader is None:
        return
    labelled, compared = kind in RECORDS.readers.values(), kind in EVALS.readers.values()
    if labelled:
        yield from check_classes(reader)
    if compared:
        yield from check_comparisons(reader)
    if lists_only or not subject.has_images:
        return
    facts = look_at_images(reader, processes)
    yield from (Finding.of(fault, 'image') for fault in facts.faults)
    identities = reader.labels if labelled else reader.set.identities if compared and hasattr(reader.set, 'identities') else None
    if identities is not None:
        yield from check_duplicates(reader, facts, identities)
    loose = not labelled and (not compared or getattr(reader.set, 'landmarks', None) is not None)
    yield from check_sizes(reader, facts, loose, size)
    yield from check_colour(reader, facts)


def _count_classes(reader: Any) -> int | None:
    if reader is None:
        return None
    people = getattr(getattr(reader, 'set', None), 'identities', None)
    return getattr(reader, 'num_classes', None if people is None else len(set(people)))

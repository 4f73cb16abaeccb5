"""Examines what an evaluation set compares."""
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mmface.structures import PairSet, SearchSet, TemplateSet

from .finding import Finding

_SHOWN = 5


def check_comparisons(reader: Any) -> Iterator[Finding]:
    """What there is to compare, and what is missing for a figure to mean anything."""
    describe: dict[type, Callable[[Any], Iterator[tuple[str, str, str]]]] = {
        PairSet: _pairs, TemplateSet: _templates, SearchSet: _searches}
    for kind, value, hint in describe[type(reader.set)](reader.set):
        yield Finding(kind, 'comparisons', str(reader.path), '', value, hint)


def _pairs(pair_set: PairSet) -> Iterator[tuple[str, str, str]]:
    genuine, folds = int(pair_set.same.sum()), np.unique(pair_set.fold)
    yield 'info', f'{len(pair_set)} pairs, {genuine} of them of one person, in {len(folds)} folds', ''
    if genuine in (0, len(pair_set)):
        missing = 'impostor' if genuine else 'genuine'
        yield 'warn', f'no {missing} pair', 'accuracy says nothing, and rates over such pairs cannot be computed'
        return
    bare = [int(fold) for fold in folds if len(np.unique(pair_set.same[pair_set.fold == fold])) == 1]
    if bare:
        yield 'warn', f'{len(bare)} folds with one kind of pairs, such as fold {bare[0]}', 'ten-fold accuracy expects both kinds in each'


def _templates(template_set: TemplateSet) -> Iterator[tuple[str, str, str]]:
    people = len({subject for listed in template_set.galleries.values() for subject in listed.subject.tolist()})
    yield 'info', (f'{len(np.unique(template_set.template))} templates, {len(template_set.pairs)} pairs, {template_set.same.sum()} of them '
                   f'of one person, {len(template_set.galleries)} galleries of {people} people'), ''


def _searches(search_set: SearchSet) -> Iterator[tuple[str, str, str]]:
    yield 'info', f'{len(search_set.probe)} probes, {len(search_set.gallery)} gallery images, {len(search_set.distractor)} distractors', ''
    alone = ~np.isin(search_set.ids[search_set.probe], search_set.ids[search_set.gallery])
    if alone.any() and len(search_set.gallery):
        yield 'warn', f'{alone.sum()} probes have no mate in the gallery', f'such as {search_set.paths[search_set.probe[alone.argmax()]]}'

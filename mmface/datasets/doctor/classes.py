"""Examines the labels of a training set."""
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from .finding import Finding

_SHOWN = 5


def check_classes(reader: Any) -> Iterator[Finding]:
    """Gaps in the labels, identities with one image, and a set of one identity."""
    path, n = str(reader.path), reader.num_classes
    present, counts = np.unique(reader.labels[reader.labels >= 0], return_counts=True)  # labels may be any number: nothing of length n
    if not present.size:  # all were refused
        return
    names = {} if reader.classes is None else {label: name for name, label in reader.classes.items()}

    def few(classes: Iterable[int]) -> str:
        shown = [str(names.get(label, label)) for label in islice(classes, _SHOWN + 1)]
        return 'class ' + ', '.join(shown[:_SHOWN]) + ' ...' * (len(shown) > _SHOWN)

    if len(present) < n:
        edges = chain([-1], map(int, present), [n])
        empty = (label for before, after in pairwise(edges) for label in range(before + 1, after))
        yield Finding('info', 'labels', path, few(empty), f'{n - len(present)} of {n} classes have no image',
                      "their prototypes only ever repel; the readers' option labels='rank' closes the gaps")
    single = present[counts == 1]
    if single.size:
        yield Finding('info', 'labels', path, few(single.tolist()), f'{single.size} of {n} classes have one image',
                      'allowed; samplers that want several images of a class cannot use them')
    if n == 1:
        yield Finding('warn', 'labels', path, '', 'all images are of one class', 'there is nothing to tell apart')

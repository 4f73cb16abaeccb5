"""Examines the sizes of the images."""
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .finding import Finding
from .image_facts import ImageFacts

_TINY = 8  # pixels
_USUAL = (112, 112)


def check_sizes(reader: Any, facts: ImageFacts, loose: bool, expected: Sequence[int] | None = None) -> Iterator[Finding]:
    """Images too small to show a face, more than one size, and another size than most networks eat.

    Args:
        reader: of N images.
        facts: theirs.
        loose: whether they are photos or crops of any size, unless most are 112 x 112. Others are fed to a network as they are, so that a
            second size is an error.
        expected: (height, width) that every image must have, or None.
    """
    path, good = str(reader.path), np.flatnonzero(facts.good)
    if not good.size:
        return
    for row in good[np.minimum(facts.height, facts.width)[good] < _TINY].tolist():
        size = _text(facts.height[row], facts.width[row])
        yield Finding('warn', 'size', path, reader.where(row), f'{size} pixels', 'too small to show a face')
    sizes, first, counts = np.unique(np.stack([facts.height, facts.width], 1)[good], axis=0, return_index=True, return_counts=True)
    usual = tuple(sizes[counts.argmax()].tolist()) if expected is None else tuple(expected)
    if len(sizes) == 1 and expected is None:
        if usual != _USUAL:
            yield Finding('info', 'size', path, '', f'all images are {_text(*usual)} (height x width)', 'most networks eat 112 x 112')
        return
    if loose and expected is None and not (usual == _USUAL and 2 * counts.max() > counts.sum()):
        least, most = _text(*sizes.min(0)), _text(*sizes.max(0))
        yield Finding('info', 'size', path, '', f'{len(sizes)} sizes from {least} to {most} (height x width)')
        return
    norm = f'{_text(*usual)} {"are expected" if expected is not None else f"is the size of {counts.max()}"} (height x width)'
    for at in np.argsort(-counts, kind='stable').tolist():
        if tuple(sizes[at].tolist()) != usual:
            yield Finding('error', 'size', path, reader.where(int(good[first[at]])),
                          f'{_text(*sizes[at])}, in {counts[at]} images, where {norm}',
                          'a batch needs one size: align them anew, or resize in the pipeline')


def _text(height: int, width: int) -> str:
    return f'{height} x {width}'

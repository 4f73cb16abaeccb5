"""Guesses whether red and blue were swapped when the images were written."""
from collections.abc import Iterator
from typing import Any

import numpy as np

from .finding import Finding
from .image_facts import ImageFacts

_LEAST = 30  # coloured images; fewer say nothing
_STRONG = 0.8


def check_colour(reader: Any, facts: ImageFacts) -> Iterator[Finding]:
    """Skin, of whatever shade, reflects more red than blue, and most of an aligned crop's middle is skin.

    In sets of faces red exceeds blue in nine of ten images and more; where blue exceeds red in four of five, the two were most likely
    swapped. A guess: sets lit by coloured light, of infrared or cartoon faces, or of no faces, mislead it. Grey images do not vote.
    """
    votes = facts.redness[~np.isnan(facts.redness)]
    if len(votes) < _LEAST:
        return
    red = float((votes > 0).mean())
    value = f'red exceeds blue in the middle of {red:.0%} of {len(votes)} coloured images'
    if red <= 1 - _STRONG:
        yield Finding('warn', 'colour', str(reader.path), '', f'red and blue are most likely swapped (confidence {1 - red:.0%}): {value}',
                      'in faces it is the other way round; look at some (tools/analysis/browse_dataset.py) and write the set anew')
    elif red >= _STRONG:
        yield Finding('info', 'colour', str(reader.path), '', f'colours are in the usual order (confidence {red:.0%}): {value}')
    else:
        yield Finding('info', 'colour', str(reader.path), '', f'the order of colours cannot be told: {value}')

"""Probes looked for among gallery and distractors: TinyFace, MegaFace, SCface."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SearchSet:
    """Q probes, G gallery images and X distractors among M images, without embeddings.

    Attributes:
        name: what results are called after (``'tinyface'``).
        paths: M strings that name the images; embeddings come in this order.
        probe: int64 ``[Q]``, rows of ``paths``.
        gallery: int64 ``[G]``, rows of ``paths`` that have mates among the probes; may be the probes themselves (MegaFace).
        distractor: int64 ``[X]``, rows of ``paths`` of nobody in question.
        ids: int64 ``[M]``, the person of each image; those of distractors are not looked at.
        condition: Q names that group the probes (SCface's distances), or None.
        noisy: bool ``[M]``, images on a protocol's noise list (MegaFace), or None.

    Raises:
        ValueError: where the shapes or the ranges above do not hold; the message names the first place.
    """
    name: str
    paths: Sequence[str]
    probe: np.ndarray
    gallery: np.ndarray
    distractor: np.ndarray
    ids: np.ndarray
    condition: Sequence[str] | None = None
    noisy: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ('probe', 'gallery', 'distractor'):
            rows = np.asarray(getattr(self, name), np.int64).reshape(-1)
            outside = np.flatnonzero((rows < 0) | (rows >= len(self.paths)))
            if outside.size:
                raise ValueError(f'{self.name}: {name} {outside[0]} is image {rows[outside[0]]}, '
                                 f'but there are {len(self.paths)}, counted from 0')
            if len(np.unique(rows)) != len(rows):
                raise ValueError(f'{self.name}: {name} names an image twice')
            object.__setattr__(self, name, rows)
        lengths = dict(ids=(self.ids, len(self.paths)), condition=(self.condition, len(self.probe)), noisy=(self.noisy, len(self.paths)))
        for name, (value, length) in lengths.items():
            if value is not None and len(value) != length:
                raise ValueError(f'{self.name}: {name} needs {length} entries, got {len(value)}')
        object.__setattr__(self, 'ids', np.asarray(self.ids, np.int64))
        if self.noisy is not None:
            object.__setattr__(self, 'noisy', np.asarray(self.noisy, bool))

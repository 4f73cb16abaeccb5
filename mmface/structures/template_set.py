"""Templates, sets of images compared as one: IJB-B, IJB-C and IJB-S."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class TemplateList:
    """T templates with the person that each shows: a gallery, or the probes of a search.

    Attributes:
        template: int64 ``[T]``, template ids, each once.
        subject: int64 ``[T]``, subject ids.

    Raises:
        ValueError: for other shapes, or a template that occurs twice; names it.
    """
    template: np.ndarray
    subject: np.ndarray

    def __post_init__(self) -> None:
        template, subject = np.asarray(self.template, np.int64), np.asarray(self.subject, np.int64)
        if template.ndim != 1 or template.shape != subject.shape:
            raise ValueError(f'a template list needs as many subjects as templates, got shapes {template.shape} and {subject.shape}')
        ids, counts = np.unique(template, return_counts=True)
        if (counts > 1).any():
            raise ValueError(f'template {ids[counts > 1][0]} occurs {counts.max()} times in one list')
        object.__setattr__(self, 'template', template)
        object.__setattr__(self, 'subject', subject)

    def __len__(self) -> int:
        return len(self.template)


@dataclass(frozen=True)
class TemplateSet:
    """Templates over M images, without embeddings. R rows say which image is in which template; ids are those of the files.

    An id needs no row: a template none of whose images has a face is real (IJB-S), and what becomes of it is the protocol's switch.

    Attributes:
        name: what results are called after (``'ijbc'``).
        paths: M strings that name the images; embeddings come in this order.
        template: int64 ``[R]``, the template of row r.
        media: int64 ``[R]``, the medium (a still, or all frames of one video) of row r, inside its template.
        det_score: float64 ``[R]``, the detector's score of row r, or None.
        landmarks: float64 ``[M, 5, 2]``, pixels (x, y) in the image as stored, or None for aligned crops.
        image: int64 ``[R]``, the row of ``paths`` that row r is, or None where row r is image r.
        pairs: int64 ``[P, 2]``, template ids (enrolment, verification); P may be 0.
        same: bool ``[P]``.
        galleries: name -> :class:`TemplateList`.
        probes: name -> :class:`TemplateList`.

    Raises:
        ValueError: where the shapes or the ranges above do not hold; the message names the first place.
    """
    name: str
    paths: Sequence[str]
    template: np.ndarray
    media: np.ndarray
    det_score: np.ndarray | None = None
    landmarks: np.ndarray | None = None
    image: np.ndarray | None = None
    pairs: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    same: np.ndarray = field(default_factory=lambda: np.empty(0, bool))
    galleries: Mapping[str, TemplateList] = field(default_factory=dict)
    probes: Mapping[str, TemplateList] = field(default_factory=dict)

    def __post_init__(self) -> None:
        image = np.arange(len(self.paths)) if self.image is None else np.asarray(self.image, np.int64)
        columns = dict(template=np.asarray(self.template, np.int64), media=np.asarray(self.media, np.int64), image=image)
        if self.det_score is not None:
            columns['det_score'] = np.asarray(self.det_score, np.float64)
        for name, value in columns.items():
            if value.shape != columns['template'].shape or value.ndim != 1:
                raise ValueError(f'{self.name}: template has the shape {columns["template"].shape}, {name} has {value.shape}')
        outside = np.flatnonzero((image < 0) | (image >= len(self.paths)))
        if outside.size:
            raise ValueError(f'{self.name}: row {outside[0]} is image {image[outside[0]]}, '
                             f'but there are {len(self.paths)}, counted from 0')
        pairs, same = np.asarray(self.pairs, np.int64), np.asarray(self.same, bool)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or same.shape != (len(pairs), ):
            raise ValueError(f'{self.name}: pairs must be [P, 2] and same [P], got the shapes {pairs.shape} and {same.shape}')
        if self.landmarks is not None:
            columns['landmarks'] = np.asarray(self.landmarks, np.float64)
            if columns['landmarks'].shape != (len(self.paths), 5, 2):
                raise ValueError(f'{self.name}: {len(self.paths)} images need landmarks [{len(self.paths)}, 5, 2], '
                                 f'got the shape {columns["landmarks"].shape}')
        for name, value in (*columns.items(), ('pairs', pairs), ('same', same)):
            object.__setattr__(self, name, value)

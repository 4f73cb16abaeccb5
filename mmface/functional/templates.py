"""From images to templates: grouping rows by template and medium, and weighted sums over the groups."""
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from .rows import as_slice

#: Images at a time. In float64 they are copied, and the copies stay in a processor's cache.
_BLOCKS = {'float32': 4096, 'float64': 256}


@dataclass(frozen=True)
class TemplateGroups:
    """R rows sorted into T templates, and inside each into media.

    Attributes:
        ids: int64 [T], rising.
        order: int64 [R], the rows template by template, in each medium by medium, and in each image by image.
        start: int64 [T + 1], where in ``order`` the templates begin, and R.
        media_start: int64 [K + 1], where the media begin, and R; a medium that occurs in two templates is two.
    """
    ids: np.ndarray
    order: np.ndarray
    start: np.ndarray
    media_start: np.ndarray

    @property
    def media_size(self) -> np.ndarray:
        """Int64 [R], in the sorted order: how many rows the row's medium has."""
        size = np.diff(self.media_start)
        return np.repeat(size, size)


def group_templates(template: np.ndarray, media: np.ndarray, image: np.ndarray) -> TemplateGroups:
    """Groups R rows by their template ids and, inside a template, by their media ids; int64 [R] each, any values, any order.

    The order of the rows has no part in the groups, and so none in the last bit of a sum over them.
    """
    order = np.lexsort((image, media, template))
    template, media = template[order], media[order]
    first = np.ones(len(order), bool)
    first[1:] = template[1:] != template[:-1]
    first_of_media = first.copy()
    first_of_media[1:] |= media[1:] != media[:-1]
    start, media_start = (np.append(np.flatnonzero(is_first), len(order)) for is_first in (first, first_of_media))
    return TemplateGroups(template[start[:-1]], order, start, media_start)


def pool_templates(read: Callable[[slice | np.ndarray, DTypeLike], np.ndarray],
                   image: np.ndarray,
                   groups: TemplateGroups,
                   weight: np.ndarray,
                   unit_media: bool = False,
                   dtype: DTypeLike = np.float64,
                   block: int | None = None) -> np.ndarray:
    """Weighted sums of images over templates, [T, D] of the dtype, not normalised; images are read a block at a time.

    Every template is summed on its own, one image after the other: in float64 no bit depends on ``block`` or on what else there is, and
    templates of the same images are equal.

    Args:
        read: gives rows of images as [n, D] in a dtype, such as :meth:`~mmface.functional.embedding_rows.EmbeddingRows.read`.
        image: int64 [R], the image of each row, in the order that ``groups`` was made from.
        groups: see :func:`group_templates`.
        weight: float [R], in the sorted order of ``groups.order``.
        unit_media: whether the sum over each medium is brought to length 1 before the media are added (MagFace).
        dtype: of products and sums, float32 or float64.
        block: images at a time, at least; a template is never divided.

    Raises:
        ValueError: with ``unit_media``, where a medium has no length; names the template.
    """
    image, weight = image[groups.order], weight.astype(dtype)
    at, templates, block = 0, len(groups.ids), block or _BLOCKS[np.dtype(dtype).name]
    pooled = np.empty((templates, read(slice(0, 1), dtype).shape[1]), dtype)
    while at < templates:
        end = min(max(int(np.searchsorted(groups.start, groups.start[at] + block, side='right')) - 1, at + 1), templates)
        here = slice(groups.start[at], groups.start[end])
        rows, share, cuts = read(as_slice(image[here]), dtype), weight[here], groups.start[at:end + 1]
        if unit_media:
            begin, stop = np.searchsorted(groups.media_start, (here.start, here.stop))
            media_cuts = groups.media_start[begin:stop + 1]
            rows = _sums(rows, share, media_cuts - here.start, np.empty((len(media_cuts) - 1, rows.shape[1]), dtype))
            norm = np.linalg.norm(rows, axis=1)
            if not norm.all():
                lost = groups.ids[np.searchsorted(groups.start, media_cuts[int(norm.argmin())], side='right') - 1]
                raise ValueError(f'a medium of template {lost} has length 0: it has no direction to normalise')
            rows, share, cuts = rows / norm[:, None], np.ones(len(rows), dtype), np.searchsorted(media_cuts, cuts)
        _sums(rows, share, cuts - cuts[0], pooled[at:end])
        at = end
    return pooled


def _sums(rows: np.ndarray, weight: np.ndarray, start: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Weighted sums of the rows from each start to the next, in place."""
    # BLAS is faster for float32, and rounds by the place of the rows in memory.
    add = np.dot if rows.dtype == np.float32 else partial(np.einsum, 'n,nd->d')
    for at, (begin, end) in enumerate(zip(start[:-1].tolist(), start[1:].tolist(), strict=True)):
        add(weight[begin:end], rows[begin:end], out=sums[at])
    return sums

"""Embeddings of all ranks in the order of the data set, as tensors: pickled objects take forty times as long."""
from collections.abc import Sequence

import torch
from mmengine.dist import all_gather, get_world_size
from torch import Tensor

#: Two embeddings of one image count as the same when they differ by no more than this share of their length: enough for the rounding of
#: another batch or of half precision, far from another image.
TOLERANCE = 1e-2


def gather_rows(indices: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Joins what the ranks hold, in the order of the ranks; each may hold another number of rows, or none.

    Args:
        indices: int64 [n].
        rows: float32 [n, D]; a rank with n = 0 may have any D.

    Returns:
        Both with the rows of all ranks, on every rank.
    """
    if get_world_size() == 1:
        return indices, rows
    counts, widths = torch.stack(all_gather(torch.tensor([len(rows), rows.shape[1]], device=rows.device))).T.tolist()
    width = max(widths)
    if {w for w, n in zip(widths, counts, strict=True) if n} - {width}:
        raise ValueError(f'the ranks have embeddings of different widths: {widths}')
    padded_rows, padded_indices = rows.new_zeros(max(counts), width), indices.new_zeros(max(counts))
    if len(rows):
        padded_rows[:len(rows)], padded_indices[:len(rows)] = rows, indices
    all_rows, all_indices = all_gather(padded_rows), all_gather(padded_indices)
    return (torch.cat([part[:n] for part, n in zip(all_indices, counts, strict=True)]),
            torch.cat([part[:n] for part, n in zip(all_rows, counts, strict=True)]))


def rows_in_order(indices: Tensor, rows: Tensor, names: Sequence[str]) -> Tensor:
    """One row an image: sorts by index and drops the duplicates that samplers add to fill the last batch.

    Args:
        indices: int64 [n], the image each row belongs to.
        rows: float32 [n, D].
        names: of the M images.

    Returns:
        [M, D]; of several rows of one image the first.

    Raises:
        ValueError: an index outside, an image without a row, or two rows of one image that differ; names the image.
    """
    outside = (indices < 0) | (indices >= len(names))
    if outside.any():
        raise ValueError(f'an embedding has the sample_idx {int(indices[outside][0])}, but there are {len(names)} images, counted from 0')
    order = torch.sort(indices, stable=True).indices
    indices, rows = indices[order], rows[order]
    found, counts = torch.unique_consecutive(indices, return_counts=True)
    if len(found) < len(names):
        missing = sorted(set(range(len(names))) - set(found.tolist()))
        raise ValueError(f'{len(missing)} of {len(names)} images have no embedding, the first: {", ".join(names[i] for i in missing[:5])}')
    first = counts.cumsum(0) - counts
    kept = rows[first]
    difference = (rows - kept[indices]).norm(dim=1)
    different = difference > TOLERANCE * kept[indices].norm(dim=1)
    if different.any():
        at = int(indices[different][0])
        raise ValueError(f'image {at} ({names[at]}) came with two different embeddings: two images with one sample_idx?')
    return kept

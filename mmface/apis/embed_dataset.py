"""From a data set of faces to its embeddings through a network."""
from collections.abc import Callable

import numpy as np

from mmface.datasets import EvalDataset

from .embedding_cache import EmbeddingCache
from .open_embedder import Embedder

_CHUNK = 1024  # images in an entry of the cache: what an interrupted run loses at most


def embed_dataset(embedder: Embedder,
                  dataset: EvalDataset,
                  mirrored: bool = False,
                  batch_size: int = 64,
                  progress: Callable[[int], object] | None = None,
                  cache: EmbeddingCache | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Embeds every image once, in the order of the data set.

    Args:
        embedder: the network.
        dataset: its items are as ``PackFace`` leaves them.
        mirrored: also embeds every image with its width axis reversed.
        batch_size: images at a time; the result does not depend on it beyond rounding.
        progress: called with every number of images that is done, or None.
        cache: where to look first, and to leave what was not there; None for no cache.

    Returns:
        Raw float32 [M, D] and, where asked for, those of the mirrored images.

    Raises:
        ValueError: an image that cannot be read or is not of the size that the network eats; names it.
    """
    views = (False, True) if mirrored else (False, )
    parts: list[list[np.ndarray]] = []
    for start in range(0, len(dataset), _CHUNK):
        rows = range(start, min(start + _CHUNK, len(dataset)))
        keys = {} if cache is None else {view: _key(cache, embedder, dataset, rows, view) for view in views}
        hits = {} if cache is None else {view: cache.get(key, len(rows)) for view, key in keys.items()}
        found = {view: part for view, part in hits.items() if part is not None}
        missing = tuple(view for view in views if view not in found)
        if missing:
            found |= zip(missing, _embed(embedder, dataset, rows, missing, batch_size, progress), strict=True)
        elif progress is not None:
            progress(len(rows))
        for view in missing if cache is not None else ():
            cache.put(keys[view], found[view])
        parts.append([found[view] for view in views])
    plain, *flipped = map(np.concatenate, zip(*parts, strict=True))
    return plain, flipped[0] if flipped else None


def _key(cache: EmbeddingCache, embedder: Embedder, dataset: EvalDataset, rows: range, mirrored: bool) -> str:
    landmarks = getattr(dataset.images.set, 'landmarks', None)
    switches = dict(
        embedder.describe(), path=None, mirrored=mirrored,
        landmarks=None if landmarks is None else landmarks[rows.start:rows.stop].tolist())
    return cache.key(switches, map(dataset.images.read, rows))


def _embed(embedder: Embedder, dataset: EvalDataset, rows: range, views: tuple[bool, ...], batch_size: int,
           progress: Callable[[int], object] | None) -> list[np.ndarray]:
    """Float32 [rows, D] of each view."""
    parts: list[list[np.ndarray]] = [[] for _ in views]
    for start in range(0, len(rows), batch_size):
        batch = np.stack([_image(embedder, dataset, at) for at in rows[start:start + batch_size]])
        for part, mirrored in zip(parts, views, strict=True):
            part.append(embedder.embed(batch[:, :, ::-1] if mirrored else batch))
        if progress is not None:
            progress(len(batch))
    return [np.concatenate(part) for part in parts]


def _image(embedder: Embedder, dataset: EvalDataset, at: int) -> np.ndarray:
    image = dataset[at]['inputs'].numpy().transpose(1, 2, 0)
    if image.shape[:2] != embedder.size:
        raise ValueError(f'{dataset.images.set.paths[at]} is {image.shape[0]} x {image.shape[1]} (height x width), the network eats '
                         f'aligned crops of {embedder.size[0]} x {embedder.size[1]}')
    return image

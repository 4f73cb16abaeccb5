"""From a data set of faces to its embeddings through an ONNX file."""
from collections.abc import Callable

import numpy as np

from mmface.datasets import PairDataset

from .onnx_backend import OnnxEmbedder


def embed_dataset(embedder: OnnxEmbedder,
                  dataset: PairDataset,
                  mirrored: bool = False,
                  batch_size: int = 64,
                  progress: Callable[[int], object] | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Embeds every image once, in the order of the data set.

    Args:
        embedder: the network.
        dataset: its items are as ``PackFace`` leaves them.
        mirrored: also embeds every image with its width axis reversed.
        batch_size: images at a time; the result does not depend on it beyond rounding.
        progress: called after each batch with its number of images, or None.

    Returns:
        Raw float32 [M, D] and, where asked for, those of the mirrored images.

    Raises:
        ValueError: an image that cannot be read or is not of the size that the network eats; names it.
    """
    rows, mirrored_rows = [], []
    for start in range(0, len(dataset), batch_size):
        images = []
        for at in range(start, min(start + batch_size, len(dataset))):
            image = dataset[at]['inputs'].numpy().transpose(1, 2, 0)
            if image.shape[:2] != embedder.size:
                raise ValueError(f'{dataset.metainfo["pair_set"].paths[at]} is {image.shape[0]} x {image.shape[1]} (height x width), the '
                                 f'network eats aligned crops of {embedder.size[0]} x {embedder.size[1]}')
            images.append(image)
        batch = np.stack(images)
        rows.append(embedder.embed(batch))
        if mirrored:
            mirrored_rows.append(embedder.embed(batch[:, :, ::-1]))
        if progress is not None:
            progress(len(batch))
    return np.concatenate(rows), np.concatenate(mirrored_rows) if mirrored else None

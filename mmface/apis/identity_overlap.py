"""Are people of an evaluation set in a training set? Their embeddings say who might be."""
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mmface.datasets.decode import decode_image
from mmface.datasets.doctor import Finding
from mmface.functional.geometry import landmark_template, similarity_transform, warp

from .open_embedder import Embedder

_BLOCK = 4096  # people a matrix product


def find_overlap(embedder: Embedder,
                 records: Any,
                 images: Any,
                 threshold: float = 0.5,
                 images_per_class: int = 5,
                 batch_size: int = 64,
                 progress: Callable[[int], object] | None = None) -> list[Finding]:
    """Compares every person of an evaluation set with every class of a training set.

    A class is the mean of the unit embeddings of a few of its images; a person likewise, of all images, where the set names people, else
    every image stands for itself. What a network takes for one person is a candidate, not proof: look at the pictures.

    Args:
        embedder: the network.
        records: the training set, see ``open_records``.
        images: the evaluation set, see ``EVALS.open``.
        threshold: the cosine similarity from which on they are candidates.
        images_per_class: how many images of a class are looked at, spread over them.
        batch_size: images at a time.
        progress: called with every number of images that is done, or None.

    Returns:
        One finding that sums up, then one for each person of the evaluation set with a candidate, the most similar first.

    Raises:
        ValueError: where no image of a set can be used: all are damaged, or of another size than the network eats.
    """
    labels, rows = _spread(records.labels, images_per_class)
    classes, centres = _means(embedder, records, rows, labels, batch_size, progress)
    people = _people(images)
    names, faces = _means(embedder, images, range(len(images)), people, batch_size, progress)
    best, similarity = _most_similar(faces, centres)
    listed = [at for at in np.argsort(-similarity, kind='stable').tolist() if similarity[at] >= threshold]
    shown = {label: name for name, label in (records.classes or {}).items()}
    found = 'images' if getattr(images.set, 'identities', None) is None else 'people'
    value = f'{len(listed)} of {len(names)} {found} of {images.set.name} have a candidate among {len(classes)} classes'
    hint = f'at a similarity of {threshold} or more; the highest is {similarity.max():.4f}'
    summary = Finding('warn' if listed else 'info', 'overlap', str(records.path), '', value, hint)
    return [summary, *(
        Finding('warn', 'overlap', str(records.path), f'class {shown.get(classes[best[at]], classes[best[at]])}',
                f'similarity {similarity[at]:.4f} with {names[at]} of {images.set.name}', 'a candidate: look at the pictures')
        for at in listed)]


def _spread(labels: np.ndarray, most: int) -> tuple[list[int], list[int]]:
    """Labels and rows of at most so many images a class, evenly spread over them, class after class."""
    order = np.argsort(labels, kind='stable')
    _, first, counts = np.unique(labels[order], return_index=True, return_counts=True)
    taken = [start + at * count // min(most, count)
             for start, count in zip(first.tolist(), counts.tolist(), strict=True) for at in range(min(most, count))]
    rows = order[taken]
    return labels[rows].tolist(), rows.tolist()


def _people(images: Any) -> Sequence[Any]:
    identities = getattr(images.set, 'identities', None)
    return images.set.paths if identities is None else identities


def _means(embedder: Embedder, reader: Any, rows: Sequence[int], people: Sequence[Any], batch_size: int,
           progress: Callable[[int], object] | None) -> tuple[list[Any], np.ndarray]:
    """The people, in the order of their first image that can be used, and the unit mean [P, D] of each one's unit embeddings."""
    known: dict[Any, int] = {}
    sums: list[np.ndarray] = []
    for owners, batch in _batches(embedder, reader, rows, people, batch_size, progress):
        embeddings = embedder.embed(batch)
        embeddings /= np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)
        for owner, embedding in zip(owners, embeddings, strict=True):
            at = known.setdefault(owner, len(known))
            if at == len(sums):
                sums.append(embedding)
            else:
                sums[at] = sums[at] + embedding
    if not sums:
        size = ' x '.join(map(str, embedder.size))
        raise ValueError(f'{reader.path}: no image can be used; the network eats aligned crops of {size} (height x width)')
    means = np.stack(sums)
    return list(known), means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)


def _batches(embedder: Embedder, reader: Any, rows: Sequence[int], people: Sequence[Any], batch_size: int,
             progress: Callable[[int], object] | None) -> Iterator[tuple[list[Any], np.ndarray]]:
    """Owners and crops. What cannot be used is left out: the doctor's other checks name it."""
    for start in range(0, len(rows), batch_size):
        part = range(start, min(start + batch_size, len(rows)))
        crops = [(people[at], crop) for at in part if (crop := _crop(embedder, reader, rows[at])) is not None]
        if crops:
            yield [owner for owner, _ in crops], np.stack([crop for _, crop in crops])
        if progress is not None:
            progress(len(part))


def _crop(embedder: Embedder, reader: Any, row: int) -> np.ndarray | None:
    """The aligned crop uint8 [H, W, 3], None where there is none."""
    landmarks = getattr(getattr(reader, 'set', None), 'landmarks', None)
    try:
        image = decode_image(reader.read(row))
        if landmarks is not None:
            matrix = similarity_transform(landmarks[row], landmark_template(embedder.size, embedder.template))
            image = warp(image, matrix, embedder.size)
    except ValueError:
        return None
    return image if image.shape[:2] == tuple(embedder.size) else None


def _most_similar(faces: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The most similar centre of each face, and the similarity."""
    best = np.empty(len(faces), np.int64)
    similarity = np.empty(len(faces), np.float32)
    for start in range(0, len(faces), _BLOCK):
        product = faces[start:start + _BLOCK] @ centres.T
        best[start:start + _BLOCK] = product.argmax(1)
        similarity[start:start + _BLOCK] = product.max(1)
    return best, similarity

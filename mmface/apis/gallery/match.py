"""What a search answers, and what it is asked with."""
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np


@dataclass(frozen=True)
class Match:
    """A person found, with the cosine similarity of the photo of theirs that comes nearest."""
    person: str
    similarity: float


def utc(moment: datetime) -> np.datetime64:
    """A moment with a time zone in UTC, to the second; without one a ValueError."""
    if moment.tzinfo is None:
        raise ValueError(f'{moment} has no time zone')
    return np.datetime64(moment.astimezone(timezone.utc).replace(tzinfo=None), 's')


def unit_rows(embeddings: np.ndarray) -> np.ndarray:
    """Raw embeddings [N, D] in float32 and of length 1; a ValueError for another shape, N = 0, or one without a direction."""
    embeddings = np.asarray(embeddings, np.float64)
    if embeddings.ndim != 2 or not len(embeddings):
        raise ValueError(f'embeddings are [N, D] with N >= 1, got {list(embeddings.shape)}')
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    wrong = np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)))
    if wrong.size:
        raise ValueError(f'embedding {wrong[0]} has the length {lengths[wrong[0], 0]:g}: it cannot be compared')
    return (embeddings / lengths).astype(np.float32)

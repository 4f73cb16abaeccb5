"""From labelled scores to the two arrays every verification number is made of."""
import numpy as np


def split_scores(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Splits scores by what they compare.

    Args:
        scores: [N] finite similarities, larger is more alike (negate a distance first).
        labels: [N] booleans, or 0 and 1: whether the two images show one person.

    Returns:
        ``(genuine, impostor)``, float64, in the order given.

    Raises:
        ValueError: no scores, another number of labels, a score that is not finite, a label that is neither 0 nor 1, or one of the two
            kinds missing; names the first index.
    """
    scores, labels = np.asarray(scores, np.float64), np.asarray(labels)
    if scores.ndim != 1 or labels.ndim != 1:
        raise ValueError(f'scores and labels are vectors, got shapes {scores.shape} and {labels.shape}')
    if len(scores) != len(labels):
        raise ValueError(f'{len(scores)} scores, but {len(labels)} labels')
    if not len(scores):
        raise ValueError('no scores')
    broken = np.flatnonzero(~np.isfinite(scores))
    if broken.size:
        raise ValueError(f'score {broken[0]} is {scores[broken[0]]}: scores are finite')
    unknown = np.flatnonzero((labels != 0) & (labels != 1))
    if unknown.size:
        raise ValueError(f'label {unknown[0]} is {labels[unknown[0]]}: 1 stands for one person, 0 for two')
    genuine, impostor = scores[labels == 1], scores[labels == 0]
    for name, kind in (('genuine', genuine), ('impostor', impostor)):
        if not len(kind):
            raise ValueError(f'no {name} scores among {len(scores)}')
    return genuine, impostor

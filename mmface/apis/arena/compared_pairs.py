"""Which images of the held-out people are compared."""
from itertools import combinations

import numpy as np

MOST = 30  #: genuine pairs of a person: without a limit the few with hundreds of pictures would be the whole test


def genuine_pairs(people: np.ndarray, most: int = MOST, seed: int = 0) -> np.ndarray:
    """All pairs of images of one person, at most so many a person.

    Args:
        people: int ``[M]``, who is in each image.
        most: where a person has more, so many are drawn.
        seed: of the draw, with the person's number; it does not depend on the images of the others.

    Returns:
        int64 ``[G, 2]``, the smaller row first, in the order of the people.
    """
    found: list[tuple[int, int]] = []
    for person in np.unique(people):
        pairs = list(combinations(np.flatnonzero(people == person).tolist(), 2))
        kept = np.arange(len(pairs))
        if len(pairs) > most:
            kept = np.sort(np.random.default_rng((seed, int(person))).permutation(len(pairs))[:most])
        found += [pairs[at] for at in kept]
    return np.array(found, np.int64).reshape(-1, 2)


def draw_listed_pairs(people: np.ndarray, size: int, parts: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A list such as LFW's for a set that comes without one: half genuine, half impostors, no pair twice.

    Args:
        people: int ``[M]``.
        size: pairs, or as many as there are; a multiple of ``2 * parts``.
        parts: into which they are cut, each with its share of both kinds.
        seed: of the draw.

    Returns:
        ``pairs`` int64 ``[N, 2]``, ``same`` bool ``[N]``, ``part`` int64 ``[N]``.

    Raises:
        ValueError: not a pair of either kind for each part.
    """
    rng = np.random.default_rng(seed)
    genuine = genuine_pairs(people)
    first, second = np.triu_indices(len(people), 1)
    apart = people[first] != people[second]
    impostors = np.stack([first[apart], second[apart]], 1)
    each = min(size // 2, len(genuine), len(impostors)) // parts
    if not each:
        raise ValueError(f'{len(genuine)} genuine and {len(impostors)} impostor pairs do not fill {parts} parts')
    chosen = [pairs[rng.permutation(len(pairs))[:each * parts]] for pairs in (genuine, impostors)]
    part = np.repeat(np.arange(parts), each)
    return np.concatenate(chosen), np.repeat([True, False], each * parts), np.tile(part, 2)

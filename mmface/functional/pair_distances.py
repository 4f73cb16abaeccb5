"""From raw embeddings to the squared distances of pairs, in float64."""
from collections.abc import Sequence

import numpy as np

#: How the embeddings of an image and of its mirror image become one vector. All three are in use, and they differ.
FLIP_RULES = {
    'add': lambda plain, mirrored: plain + mirrored,  # InsightFace, AdaFace, CVLface: the longer of the two weighs more
    'add_unit': lambda plain, mirrored: _divided(plain) + _divided(mirrored),  # both weigh the same
    'concatenate': lambda plain, mirrored: np.concatenate([plain, mirrored], 1),  # facenet: no cross terms
}


def fuse_flip(embeddings: np.ndarray, mirrored: np.ndarray | None, rule: str | None, names: Sequence[str]) -> np.ndarray:
    """The vectors to compare, [M, D] (or float64 [M, 2D]), not normalised.

    Args:
        embeddings: raw [M, D].
        mirrored: raw [M, D] of the same aligned crops with the width axis reversed, or None.
        rule: a key of :data:`FLIP_RULES`, or None for no flip; ``mirrored`` is then None as well.
        names: M names of the images, for errors.

    Raises:
        ValueError: a rule without mirrored embeddings or the other way round, unequal shapes, or a row that :func:`unit_rows` refuses.
    """
    if rule is None and mirrored is None:
        return embeddings
    if rule is None or mirrored is None:
        raise ValueError(f'flip is {rule!r} and mirrored embeddings are {"absent" if mirrored is None else "given"}: '
                         f'give both or neither; the rules are {sorted(FLIP_RULES)}')
    if np.shape(mirrored) != np.shape(embeddings):
        raise ValueError(f'{np.shape(embeddings)} embeddings, but {np.shape(mirrored)} mirrored ones')
    for one in (embeddings, mirrored):
        unit_rows(one, names)  # a fault must not hide in the sum
    return FLIP_RULES[rule](np.asarray(embeddings, np.float64), np.asarray(mirrored, np.float64))


def unit_rows(vectors: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Rows of length 1, float64 [M, D]; ``names`` say in errors which image a row belongs to.

    Raises:
        ValueError: another number of rows than names, or a row that is not finite or has no length; names the first and counts them.
    """
    vectors = np.asarray(vectors, np.float64)
    if vectors.ndim != 2 or len(vectors) != len(names):
        raise ValueError(f'{len(names)} images need embeddings [{len(names)}, D], got shape {vectors.shape}')
    norm = np.sqrt(np.einsum('md,md->m', vectors, vectors))
    for broken, what in ((~np.isfinite(norm), 'is not finite'), (norm == 0, 'has the length 0')):
        rows = np.flatnonzero(broken)
        if rows.size:
            raise ValueError(f'the embedding of image {rows[0]} ({names[rows[0]]}) {what}; so are {rows.size} of {len(names)}')
    return vectors / norm[:, None]


def pair_distances(unit: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances d of unit rows, float64 [N] in [0, 4]; the cosine similarity is 1 - d / 2.

    Args:
        unit: rows of length 1, [M, D].
        pairs: [N, 2] rows to compare. A row compared with itself has the distance 0 exactly.
    """
    difference = unit[pairs[:, 0]]
    difference -= unit[pairs[:, 1]]
    return np.minimum(np.einsum('nd,nd->n', difference, difference), 4.)


def _divided(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

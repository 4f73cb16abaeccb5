"""The ways in which the embeddings of an image and of its mirror image become one vector. All three are in use, and they differ."""
import numpy as np

FLIP_RULES = {
    'add': lambda plain, mirrored: plain + mirrored,  # InsightFace, AdaFace, CVLface: the longer of the two weighs more
    'add_unit': lambda plain, mirrored: _divided(plain) + _divided(mirrored),  # both weigh the same
    'concatenate': lambda plain, mirrored: np.concatenate([plain, mirrored], 1),  # facenet: no cross terms
}


def _divided(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

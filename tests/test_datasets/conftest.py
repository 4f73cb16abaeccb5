"""Small data sets made on the spot."""
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmface.datasets.formats.recordio.writer import write_training_set


@pytest.fixture(scope='session')
def jpeg() -> Callable[..., bytes]:
    """``jpeg(seed, size=(112, 112))``: a smooth colour picture, encoded."""

    def make(seed: int, size: tuple[int, int] = (112, 112)) -> bytes:
        noise = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
        return cv2.imencode('.jpg', cv2.resize(noise, size[::-1]))[1].tobytes()

    return make


@pytest.fixture(scope='session')
def small_rec(tmp_path_factory, jpeg) -> Path:
    """A training set of five people with 1, 2, 3, 4 and 5 images."""
    path = tmp_path_factory.mktemp('small') / 'train.rec'
    write_training_set(path, [[jpeg(10 * person + image) for image in range(person + 1)] for person in range(5)])
    return path


@pytest.fixture
def tree(tmp_path, jpeg) -> Callable[..., Path]:
    """``tree('a/1.jpg', ...)``: a folder with these files, pictures where the suffix says so."""

    def make(*names: str) -> Path:
        for seed, name in enumerate(names):
            path = tmp_path / 'tree' / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(jpeg(seed) if path.suffix == '.jpg' else b'text')
        return tmp_path / 'tree'

    return make

"""Does the exported file compute what its source computes?"""
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import torch
from mmengine.model import BaseModel

from mmface.utils import import_onnxruntime

Embed = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ParityCheck:
    """Some images through both, in batches of one size.

    Attributes:
        kind: where the images came from, 'random' or 'given'.
        images: how many there were.
        batch: how many went in at once.
        max_relative_difference: the largest, over the images, of max|file - source| / max|source| of an embedding; infinite where a shape
            differs, a number is not finite, or the file does not run.
        problem: in words, what was wrong beside the numbers; empty where they say it all.
    """
    kind: str
    images: int
    batch: int
    max_relative_difference: float
    problem: str = ''

    def __str__(self) -> str:
        problem = f' ({self.problem})' if self.problem else ''
        return f'batch {self.batch}, {self.images} {self.kind} images: max relative difference {self.max_relative_difference:.2e}{problem}'


class ParityError(ValueError):
    """The file is not what its source is. ``checks`` holds every :class:`ParityCheck`."""

    def __init__(self, checks: list[ParityCheck], tolerance: float) -> None:
        super().__init__(f'the exported network differs from its source by more than {tolerance:g}:\n  ' + '\n  '.join(map(str, checks)))
        self.checks = checks


def check_parity(candidate: Embed, source: Embed, images: np.ndarray, batch: int, kind: str) -> ParityCheck:
    """Runs images through two networks and compares what comes out, shapes first.

    Args:
        candidate: the network under test: uint8 RGB [batch, H, W, 3] to embeddings [batch, D].
        source: the network it has to agree with.
        images: uint8 RGB [N, H, W, 3], N >= 1.
        batch: how many go in at once; the last batch is filled up with the first images.
        kind: where the images came from, for the record.
    """
    worst = 0.
    for start in range(0, len(images), batch):
        cut = np.resize(np.roll(images, -start, axis=0), (batch, *images.shape[1:]))
        expected = source(cut).astype(np.float64)
        try:
            found = candidate(cut).astype(np.float64)
        except Exception as error:  # noqa: BLE001  ONNX Runtime raises a dozen unrelated classes; not to run is to fail
            return ParityCheck(kind, len(images), batch, float('inf'), f'it does not run: {str(error).strip().splitlines()[0]}')
        if found.shape != expected.shape:
            return ParityCheck(kind, len(images), batch, float('inf'), f'shape {found.shape}, expected {expected.shape}')
        if not (np.isfinite(found).all() and np.isfinite(expected).all()):
            return ParityCheck(kind, len(images), batch, float('inf'), 'numbers that are not finite')
        scale = np.maximum(np.abs(expected).max(1), np.finfo(np.float64).tiny)
        worst = max(worst, float((np.abs(found - expected).max(1) / scale).max()))
    return ParityCheck(kind, len(images), batch, worst)


def torch_embedder(model: BaseModel) -> Embed:
    """The recognizer's own way from pixels to embeddings, as in evaluation."""

    @torch.no_grad()
    def embed(images: np.ndarray) -> np.ndarray:
        inputs = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        return model(model.data_preprocessor(dict(inputs=inputs), False)['inputs'], mode='tensor').numpy()

    return embed


def onnxruntime_embedder(proto: onnx.ModelProto) -> Embed:
    """The exported network in ONNX Runtime on the CPU; it is loaded at the first call.

    Raises:
        ImportError: ONNX Runtime is not installed.
    """
    runtime = import_onnxruntime()
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors; they arrive as exceptions

    @functools.cache
    def session() -> Any:
        return runtime.InferenceSession(proto.SerializeToString(), options, providers=['CPUExecutionProvider'])

    return lambda images: session().run(['embedding'], {'images': images})[0]

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

from .graph_options import GraphOptions
from .inputs import prepare_images
from .precision import Precision

Embed = Callable[[np.ndarray], list[np.ndarray]]
"""uint8 RGB [B, H, W, 3] to the outputs: embeddings [B, D] and, where there is a second, norms [B]."""


@dataclass(frozen=True)
class ParityCheck:
    """Some images through both, in batches of one size.

    Attributes:
        kind: where the images came from, 'random' or 'given'.
        images: how many there were.
        batch: how many went in at once.
        max_relative_difference: the largest, over images and outputs, of max|file - source| / max|source|; infinite where a shape differs,
            a number is not finite, or the file does not run.
        min_cosine: the smallest, over the images, between the file's embedding and the source's; -1 in those cases.
        problem: in words, what was wrong beside the numbers; empty where they say it all.
    """
    kind: str
    images: int
    batch: int
    max_relative_difference: float
    min_cosine: float
    problem: str = ''

    def passes(self, precision: Precision) -> bool:
        """Whether the numbers are as near as the precision asks; of noise, which calibrated ranges do not cover, only that it runs."""
        relative, cosine = precision.max_relative_difference, precision.min_cosine
        if precision.calibrated and self.kind == 'random':
            relative = cosine = None
        return (np.isfinite(self.max_relative_difference) and (relative is None or self.max_relative_difference <= relative)
                and (cosine is None or self.min_cosine >= cosine))  # yapf: disable

    def __str__(self) -> str:
        problem = f' ({self.problem})' if self.problem else ''
        return (f'batch {self.batch}, {self.images} {self.kind} images: max relative difference {self.max_relative_difference:.2e}, '
                f'min cosine {self.min_cosine:.6f}{problem}')


class GateError(ValueError):
    """An exported file that does not do what its source does; nothing is kept of it."""


class ParityError(GateError):
    """The file's numbers are not its source's. ``checks`` holds every :class:`ParityCheck`."""

    def __init__(self, checks: list[ParityCheck], precision: Precision) -> None:
        wanted = [f'{name} {value:g}' for name, value in (('a relative difference of', precision.max_relative_difference),
                                                          ('a cosine of', precision.min_cosine)) if value is not None]
        super().__init__(f'the exported network differs from its source by more than {precision.name} may ({" and ".join(wanted)}):\n  '
                         + '\n  '.join(map(str, checks)))
        self.checks = checks


def check_parity(candidate: Embed, source: Embed, images: np.ndarray, batch: int, kind: str) -> ParityCheck:
    """Runs images through two networks and compares what comes out, shapes first.

    Args:
        candidate: the network under test.
        source: the network it has to agree with.
        images: uint8 RGB [N, H, W, 3], N >= 1.
        batch: how many go in at once; the last batch is filled up with the first images.
        kind: where the images came from, for the record.
    """
    worst, nearest = 0., 1.
    for start in range(0, len(images), batch):
        cut = np.resize(np.roll(images, -start, axis=0), (batch, *images.shape[1:]))
        expected = [output.astype(np.float64) for output in source(cut)]
        try:
            found = [output.astype(np.float64) for output in candidate(cut)]
        except Exception as error:  # noqa: BLE001  ONNX Runtime raises a dozen unrelated classes; not to run is to fail
            return _failed(kind, images, batch, f'it does not run: {str(error).strip().splitlines()[0]}')
        shapes = [output.shape for output in found], [output.shape for output in expected]
        if shapes[0] != shapes[1]:
            return _failed(kind, images, batch, f'shapes {shapes[0]}, expected {shapes[1]}')
        if not all(np.isfinite(output).all() for output in (*found, *expected)):
            return _failed(kind, images, batch, 'numbers that are not finite')
        worst = max(worst, *(float(_relative(*outputs).max()) for outputs in zip(found, expected, strict=True)))
        nearest = min(nearest, float(_cosine(found[0], expected[0]).min()))
    return ParityCheck(kind, len(images), batch, worst, nearest)


def _failed(kind: str, images: np.ndarray, batch: int, problem: str) -> ParityCheck:
    return ParityCheck(kind, len(images), batch, float('inf'), -1., problem)


def _relative(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    found, expected = found.reshape(len(found), -1), expected.reshape(len(expected), -1)
    return np.abs(found - expected).max(1) / np.maximum(np.abs(expected).max(1), np.finfo(np.float64).tiny)


def _cosine(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return (found * expected).sum(1) / np.maximum(lengths, np.finfo(np.float64).tiny)


def torch_embedder(model: BaseModel, options: GraphOptions) -> Embed:
    """The recognizer's own way from pixels to embeddings, as in evaluation; what the options ask for is done in NumPy."""

    @torch.no_grad()
    def embed(images: np.ndarray) -> np.ndarray:
        inputs = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        return model(model.data_preprocessor(dict(inputs=inputs), False)['inputs'], mode='tensor').numpy()

    def outputs(images: np.ndarray) -> list[np.ndarray]:
        embedding = embed(images) + embed(images[:, :, ::-1]) if options.flip else embed(images)
        norm = np.linalg.norm(embedding, axis=1)
        if options.normalize:
            embedding = embedding / norm[:, None]
        return [embedding, norm] if options.norm else [embedding]

    return outputs


def onnxruntime_embedder(proto: onnx.ModelProto, record: dict, provider: str = 'CPUExecutionProvider') -> Embed:
    """The exported network in ONNX Runtime; it is loaded at the first call.

    Args:
        proto: the network.
        record: its metadata, see :mod:`mmface.export.metadata`.
        provider: ONNX Runtime's name of what runs it.

    Raises:
        ImportError: ONNX Runtime is not installed.
        ValueError: this ONNX Runtime does not have the provider.
    """
    runtime = import_onnxruntime()
    if provider not in runtime.get_available_providers():
        raise ValueError(f'this ONNX Runtime has no {provider}, it has {", ".join(runtime.get_available_providers())}')
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors; they arrive as exceptions
    takes, names = record['input'], [name for name in (record['output']['embedding'], record['output']['norm']) if name]
    scale = {} if record['preprocessing_in_graph'] else dict(mean=takes['mean'], std=takes['std'], dtype=np.dtype(takes['dtype']).type)

    @functools.cache
    def session() -> Any:
        opened = runtime.InferenceSession(proto.SerializeToString(), options, providers=[provider])
        if provider not in opened.get_providers():
            raise RuntimeError(f'ONNX Runtime could not start {provider}, only {", ".join(opened.get_providers())}')
        return opened

    def embed(images: np.ndarray) -> list[np.ndarray]:
        inputs = prepare_images(images, takes['layout'] == 'NCHW', takes['color'], **scale)
        return session().run(names, {proto.graph.input[0].name: inputs})

    return embed

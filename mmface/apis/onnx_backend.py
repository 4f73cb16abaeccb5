"""Embeddings from an ONNX file through ONNX Runtime, whoever exported it.

A file of ours says in its metadata (key ``mmface``) what it eats; for any other the caller says it. The two never silently disagree.
"""
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from mmface.export import METADATA_KEY, model_id, parse_metadata
from mmface.export.inputs import prepare_images

from .onnx_runner import session_runner
from .onnx_session import open_session

_DTYPES = {'tensor(uint8)': np.uint8, 'tensor(float)': np.float32, 'tensor(float16)': np.float16}


class OnnxEmbedder:
    """Runs a face network in ONNX format on aligned crops.

    A file that takes uint8, or whose metadata say ``preprocessing_in_graph``, gets pixels in 0..255 and does the rest itself. Any other
    gets ``(x - mean) / std`` with x in 0..255 and channels in the order ``color``.

    Args:
        path: the ``.onnx`` file: one input [B, 3, H, W] or [B, H, W, 3] (uint8, float32 or float16), B fixed or free, and one output
            [B, D]; with several outputs the metadata name the embedding.
        providers: ONNX Runtime providers in order of preference. Default: CUDA where it can be used, then CPU; the attribute ``providers``
            says what is in use. A provider asked for by name and not obtained is an error.
        threads: threads within an operator; None leaves it to ONNX Runtime.
        engine_cache: where TensorRT keeps the engines that it takes minutes to build.
        mean: per channel in 0..255, in the order ``color``. Like the next three needed where the metadata do not give it, and refused
            where they give another.
        std: likewise.
        color: ``'RGB'`` or ``'BGR'``, the order that the file wants.
        size: (height, width).

    Attributes:
        runs_on: in words, what it runs on and why.
        metadata: the file's ``mmface`` record; empty where it has none.
        mean, std, color, size: what is in force; mean and std are None for a file that scales by itself and does not tell.
        batch_size: the batch that the graph is fixed to, None where it is free.
        model_id: the identity of the network.
        template: to which landmark template faces have to be aligned.
        norm: the name of the output that gives the length before normalisation; None where there is none.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not such a network, or an argument that is missing or contradicts the file; says which.
        ImportError: ONNX Runtime is not installed.
    """

    def __init__(self,
                 path: str | Path,
                 providers: Sequence[str] | None = None,
                 threads: int | None = None,
                 mean: Sequence[float] | None = None,
                 std: Sequence[float] | None = None,
                 color: str | None = None,
                 size: Sequence[int] | None = None,
                 engine_cache: str | Path | None = None) -> None:
        self.path = Path(path)
        session, self.runs_on = open_session(self.path, providers, threads, None if engine_cache is None else Path(engine_cache))
        self.providers = tuple(session.get_providers())
        record = session.get_modelmeta().custom_metadata_map.get(METADATA_KEY)
        self.metadata = {} if record is None else parse_metadata(record, self.path)
        self._read_signature(session)
        self._settle_preprocessing(dict(mean=mean, std=std, color=color, size=size))

    @cached_property
    def model_id(self) -> str:
        """The identity of the network, see :func:`mmface.export.model_id.model_id`, worked out from the file."""
        return model_id(onnx.load(self.path))

    @property
    def template(self) -> str:
        """To which landmark template faces have to be aligned; ``'arcface'`` where the metadata do not say."""
        return self.metadata.get('input', {}).get('template', 'arcface')

    def describe(self) -> dict:
        """What is run, and on what input: plain values, for reports."""
        return dict(
            path=str(self.path), model_id=self.model_id, size=list(self.size), color=self.color, mean=self.mean and list(self.mean),
            std=self.std and list(self.std), template=self.template, preprocessing_in_graph=self.in_graph, providers=list(self.providers))

    def _read_signature(self, session: Any) -> None:
        inputs, outputs = session.get_inputs(), {output.name: output.shape for output in session.get_outputs()}
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or 3 not in inputs[0].shape[1::2]:
            raise ValueError(f'{self.path}: a face network takes one input [B, 3, H, W] or [B, H, W, 3], this file takes '
                             f'{", ".join(f"{node.name} {node.shape}" for node in inputs)}')
        node = inputs[0]
        if node.type not in _DTYPES:
            raise ValueError(f'{self.path}: its input is a {node.type}; supported are {", ".join(_DTYPES)}')
        self._dtype, self._channels_first = _DTYPES[node.type], node.shape[1] == 3
        self.batch_size = node.shape[0] if isinstance(node.shape[0], int) else None
        sides = node.shape[2:] if self._channels_first else node.shape[1:3]
        self._graph_size = sides if all(isinstance(side, int) for side in sides) else None
        gives = self.metadata.get('output', {})
        embedding: str = gives.get('embedding') or (next(iter(outputs)) if len(outputs) == 1 else '')
        self.norm: str | None = gives.get('norm')
        if len(outputs.get(embedding, ())) != 2 or (self.norm and self.norm not in outputs):
            raise ValueError(f'{self.path}: a face network gives one embedding [B, D], this file gives {outputs}')
        self._run = session_runner(session, node.name, [embedding, self.norm] if self.norm else [embedding])

    def _settle_preprocessing(self, given: dict[str, Any]) -> None:
        recorded = self.metadata.get('input', {})
        self.in_graph = bool(self.metadata.get('preprocessing_in_graph', self._dtype is np.uint8))
        self.size = self._agree('size', given['size'], recorded.get('size') or self._graph_size, _size)
        if self._graph_size and _size(self._graph_size) != self.size:
            raise ValueError(f'{self.path}: size is {self.size} (height, width), but the graph is fixed to {_size(self._graph_size)}')
        untold = self.in_graph and not recorded
        if untold and (given['mean'] or given['std']):
            raise ValueError(f'{self.path} takes uint8 and scales by itself: leave mean and std out')
        self.mean = None if untold else self._agree('mean', given['mean'], recorded.get('mean'), _channels)
        self.std = None if untold else self._agree('std', given['std'], recorded.get('std'), _channels)
        self.color = self._agree('color', given['color'], recorded.get('color'), str)
        if self.color not in ('RGB', 'BGR'):
            raise ValueError(f'{self.path}: color is {self.color!r}, expected RGB or BGR')
        if self.std and min(self.std) <= 0:
            raise ValueError(f'{self.path}: std is {self.std}, expected three positive numbers')

    def _agree(self, name: str, given: Any, recorded: Any, kind: Callable[[Any], Any]) -> Any:
        values = [kind(value) for value in (recorded, given) if value is not None]
        if not values:
            raise ValueError(f'{self.path}: its metadata do not give {name!r}: pass {name} (on the command line --{name}), '
                             'or write all that it needs into a copy: mmface annotate')
        if values[0] != values[-1]:
            raise ValueError(f'{self.path}: {name} {values[-1]} was given, but the file is made for {values[0]}; leave {name} out')
        return values[0]

    def embed(self, images: np.ndarray) -> np.ndarray:
        """Embeds aligned crops.

        Args:
            images: uint8 RGB [B, H, W, 3] with (H, W) equal to ``size`` and B >= 1.

        Returns:
            float32 [B, D], as the network gives it, not normalised by us.

        Raises:
            ValueError: another dtype or shape.
        """
        return self._embed(images)[0]

    def embed_with_norm(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Embeds aligned crops, see :meth:`embed`, and tells the lengths of the embeddings, float32 [B]: what quality is read off.

        A file that gives embeddings of length 1 and, as a second output, the length before is asked for that; of all others the
        embedding's own is taken.
        """
        embeddings, norms = self._embed(images)
        norm = norms[0].reshape(-1) if norms else np.linalg.norm(embeddings.astype(np.float64), axis=1)
        return embeddings, norm.astype(np.float32, copy=False)

    def _embed(self, images: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """The embeddings, and the file's own norms where it gives them."""
        images = np.asarray(images)
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[1:] != (*self.size, 3) or not len(images):
            raise ValueError(f'{self.path}: expected uint8 RGB images [B, {self.size[0]}, {self.size[1]}, 3] with B >= 1, '
                             f'got {images.dtype} {list(images.shape)}')
        scale = {} if self.in_graph else dict(mean=self.mean, std=self.std)
        inputs = prepare_images(images, self._channels_first, self.color, dtype=self._dtype, **scale)
        embeddings, *norms = self._run(inputs) if self.batch_size in (None, len(inputs)) else self._run_in_steps(inputs)
        return embeddings.astype(np.float32, copy=False), norms

    def _run_in_steps(self, inputs: np.ndarray) -> list[np.ndarray]:
        """For a file of fixed batch; copies of the last image fill its last batch, and their rows are cut off."""
        count, step = len(inputs), self.batch_size or len(inputs)
        inputs = np.concatenate([inputs, np.repeat(inputs[-1:], -count % step, 0)])
        parts = [self._run(inputs[start:start + step]) for start in range(0, count, step)]
        return [np.concatenate(output)[:count] for output in zip(*parts, strict=True)]


def _size(value: Sequence[int]) -> tuple[int, int]:
    height, width = value
    return int(height), int(width)


def _channels(value: Sequence[float]) -> tuple[float, float, float]:
    first, second, third = value
    return float(first), float(second), float(third)

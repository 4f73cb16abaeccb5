"""The torch side of an export: recognizer to ONNX operators."""
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import onnx
import torch

from .embedding_graph import EmbeddingGraph
from .model_id import strip_remarks


def trace_embedding(graph: EmbeddingGraph, opset: int) -> onnx.ModelProto:
    """The embedding computation of a recognizer in evaluation mode on the CPU, as ONNX operators.

    One input, ``images``, with a free batch; outputs as the graph's options say. The source lines and folder names that torch's exporter
    records are left out.

    Raises:
        RuntimeError: torch cannot export the recognizer, or not in this opset.
    """
    try:
        with _quiet(), torch.no_grad():
            proto = torch.onnx.export(
                graph, (graph.example, ),
                dynamo=True,
                opset_version=opset,
                input_names=['images'],
                output_names=graph.options.outputs,
                dynamic_shapes={'images': {0: torch.export.Dim('batch')}},
                verbose=False).model_proto
    except Exception as error:
        raise RuntimeError(f'torch {torch.__version__} cannot export {type(graph.model).__name__} to ONNX: {error}') from error
    written = {entry.domain: entry.version for entry in proto.opset_import}.get('')
    if written != opset:
        raise RuntimeError(f'asked for opset {opset}, torch {torch.__version__} wrote {written}: choose one it knows, such as 18 or 20')
    strip_remarks(proto)
    onnx.checker.check_model(proto)
    return proto


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's remarks about itself: what matters of them arrives as an exception."""
    loggers = [logging.getLogger(name) for name in ('torch.onnx', 'onnxscript', 'onnx_ir')]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)

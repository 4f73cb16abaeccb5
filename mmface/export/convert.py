"""An ONNX file in another number format."""
from pathlib import Path

import numpy as np
import onnx

from .gate import EndMetric, ExportReport, Gate, check_request, sample_images
from .inputs import prepare_images
from .metadata import read_metadata
from .model_id import model_id
from .onnx_exporter import serialise
from .parity import onnxruntime_embedder
from .precision import Precision


def convert_onnx(source: str | Path,
                 path: str | Path,
                 *,
                 precision: Precision,
                 end_metric: EndMetric,
                 images: np.ndarray | None = None,
                 provider: str = 'CPUExecutionProvider',
                 seed: int = 0) -> ExportReport:
    """Converts a file that has a record, ours or an annotated one, and keeps the result only if it passes the gate against its source.

    A network that is there as config and checkpoint is better exported: fp16 is then chosen layer by layer. The result is another network,
    with a model id of its own, and starts without thresholds.

    Args:
        source: the file, in float32.
        path: the file to write; as :func:`~mmface.export.export_onnx` does.
        precision: one of :data:`PRECISIONS` that can be made from a file: fp16 or INT8.
        end_metric: what the file is for, measured before and after.
        images: uint8 RGB [N, H, W, 3], aligned faces to check and to calibrate with.
        provider: ONNX Runtime's name of what runs the checks.
        seed: of the random images.

    Raises:
        GateError: the result differs from its source.
        ValueError: a source without a record or in another format than float32, or a precision that cannot be made from a file.
    """
    source, path = Path(source), Path(path)
    check_request(path, precision, images, end_metric)
    try:
        proto = onnx.load(source)
    except Exception as error:  # protobuf raises several classes
        raise ValueError(f'{source}: not an ONNX file ({error})') from error
    record = read_metadata(proto, source)
    if record is None:
        raise ValueError(f'{source}: has no record of what it takes; "mmface annotate" writes one')
    if record['precision'] != 'fp32' or precision.convert_file is None:
        raise ValueError(f'{source}: {precision.name} cannot be made from a file in {record["precision"]}, only fp16 and int8 from fp32; '
                         'export it from config and checkpoint')
    samples = sample_images(tuple(record['input']['size']), images, seed)
    takes = record['input']
    scale = {} if record['preprocessing_in_graph'] else dict(mean=takes['mean'], std=takes['std'], dtype=np.float32)
    inputs = None if images is None else prepare_images(images, takes['layout'] == 'NCHW', takes['color'], **scale)
    before = onnxruntime_embedder(proto, record, provider)
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    after = precision.convert_file(copy, inputs)
    described = record | dict(precision=precision.name, model_id=model_id(after), thresholds=[])
    opset = next(entry.version for entry in after.opset_import if entry.domain == '')
    gate = Gate(path, precision, samples, opset, provider, end_metric, dict(source_model_id=record['model_id']))
    try:
        return gate.admit(before, onnxruntime_embedder(after, described, provider), described,
                          lambda metadata: serialise(after, metadata))  # yapf: disable
    except Exception:
        path.unlink(missing_ok=True)
        raise

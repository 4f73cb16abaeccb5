"""A recognizer as an ONNX file."""
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
from mmengine.model import BaseModel

from mmface.utils import import_onnxruntime

from .embedding_export import EmbeddingExport, inference_copy
from .gate import EndMetric, ExportReport, Gate, check_request, sample_images
from .graph_options import GraphOptions
from .metadata import write_metadata
from .parity import onnxruntime_embedder, torch_embedder
from .precision import PRECISIONS, Precision
from .provenance import Provenance


def export_onnx(model: BaseModel,
                path: str | Path,
                *,
                images: np.ndarray | None = None,
                opset: int = 20,
                options: GraphOptions | None = None,
                precision: Precision = PRECISIONS['fp32'],
                end_metric: EndMetric | None = None,
                provider: str = 'CPUExecutionProvider',
                seed: int = 0,
                provenance: Provenance | None = None,
                thresholds: dict | None = None) -> ExportReport:
    """Exports the embedding of a recognizer, and keeps the file only if it does what the recognizer does.

    By default the file takes ``images``, uint8 RGB [B, H, W, 3] with any B, and gives ``embedding``, float32 [B, D], not normalised.
    BatchNorms are folded. It is run by ONNX Runtime at batch 1, 2 and 7, on random images and on the given ones, against the recognizer's
    own preprocessor and forward in float32. The classification head does not go into it, nor do the source lines and folder names that
    torch's exporter would record. ``export_report.json`` beside it says how the gate ended, also where it failed.

    Args:
        model: a :class:`mmface.models.FaceRecognizer` or a module with the same ``data_preprocessor``, ``backbone``, ``head`` and
            ``mode='tensor'``; it is copied, so that its device and training mode stay.
        path: the file to write. It appears under this name complete and checked; after a failed export nothing is there, an earlier file
            included, as after a failed link. Impossible arguments are refused before and leave the earlier file.
        images: uint8 RGB [N, H, W, 3], aligned faces to check with beside the random images, and to calibrate INT8 with.
        opset: version of the default ONNX operator set.
        options: what the file takes and gives.
        precision: one of :data:`PRECISIONS`, or another with other limits.
        end_metric: what the file is for, measured before and after; a lossy precision needs it.
        provider: ONNX Runtime's name of what runs the checks.
        seed: of the random images.
        provenance: goes into the metadata; None says 'unknown' everywhere.
        thresholds: the record of a ``threshold.json``, found with this very network; its thresholds go into the metadata.

    Raises:
        GateError: the file's numbers (:class:`ParityError`) or its end metric are not the recognizer's.
        RuntimeError: torch cannot export the recognizer, or not in this opset.
        ValueError: images of another shape, none where they are needed, a path that is a folder, or thresholds of another network.
        ImportError: ONNX Runtime is not installed.
    """
    path, options = Path(path), options or GraphOptions()
    check_request(path, precision, images, end_metric)
    samples = sample_images(tuple(model.data_preprocessor.size), images, seed)
    import_onnxruntime()
    export = EmbeddingExport(inference_copy(model), options, precision, opset)
    gate = Gate(path, precision, samples, opset, provider, end_metric, asdict(options))
    try:
        proto = export.to_onnx(images)
        record = export.describe(proto, provenance, thresholds)
        return gate.admit(torch_embedder(export.model, options), onnxruntime_embedder(proto, record, provider), record,
                          lambda metadata: serialise(proto, metadata))  # yapf: disable
    except Exception:
        path.unlink(missing_ok=True)
        raise


def serialise(proto: onnx.ModelProto, metadata: dict) -> bytes:
    """The bytes of a file whose metadata are these."""
    write_metadata(proto, metadata)
    return proto.SerializeToString()

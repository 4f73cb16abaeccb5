"""A recognizer as an ONNX file."""
import copy
import hashlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
from mmengine.model import BaseModel

from .metadata import SCHEMA, write_metadata
from .model_id import model_id
from .parity import ParityCheck, ParityError, check_parity, onnxruntime_embedder, torch_embedder
from .provenance import Provenance
from .trace import trace_embedding

BATCHES = (1, 7)
"""Every file is tried with a batch of 1 and with one that nobody would have chosen for tracing."""


@dataclass(frozen=True)
class ExportReport:
    """What was written, and how it was checked.

    Attributes:
        path: the file.
        sha256: of the file, 64 hexadecimal digits.
        opset: version of the default ONNX operator set.
        metadata: the record in the file, see :mod:`mmface.export.metadata`.
        checks: every batch that went through ONNX Runtime and torch.
    """
    path: Path
    sha256: str
    opset: int
    metadata: dict
    checks: list[ParityCheck]


def export_onnx(model: BaseModel,
                path: str | Path,
                *,
                images: np.ndarray | None = None,
                opset: int = 20,
                tolerance: float = 1e-4,
                seed: int = 0,
                provenance: Provenance | None = None) -> ExportReport:
    """Exports the embedding of a recognizer with its preprocessing, and keeps the file only if it agrees with the recognizer.

    The file takes ``images``, uint8 RGB [B, H, W, 3] with any B, and gives ``embedding``, float32 [B, D], not normalised. It is run by
    ONNX Runtime on the CPU at batch 1 and 7, on random images and on the given ones, against the recognizer's own preprocessor and
    forward. The classification head does not go into it, nor do the source lines and folder names that torch's exporter would record.

    Args:
        model: a :class:`mmface.models.FaceRecognizer` or a module with the same ``data_preprocessor``, ``head`` and ``mode='tensor'``;
            it is copied, so that its device and training mode stay.
        path: the file to write. It appears under this name complete and checked; after a failed export nothing is there, an earlier file
            included, as after a failed link. Impossible arguments are refused before and leave the earlier file.
        images: uint8 RGB [N, H, W, 3], aligned faces to check with beside the random images.
        opset: version of the default ONNX operator set.
        tolerance: largest relative difference accepted, see :class:`ParityCheck`.
        seed: of the random images.
        provenance: goes into the metadata; None says 'unknown' everywhere.

    Raises:
        ParityError: the file differs from the recognizer.
        RuntimeError: torch cannot export the recognizer, or not in this opset.
        ValueError: images of another shape, or a path that is a folder.
        ImportError: ONNX Runtime is not installed.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f'{path} is a folder: name the file to write')
    samples = _samples(tuple(model.data_preprocessor.size), images, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _export(_inference_copy(model), path, samples, opset, tolerance, provenance or Provenance())
    except Exception:
        path.unlink(missing_ok=True)
        raise


def _export(model: BaseModel, path: Path, samples: dict[str, np.ndarray], opset: int, tolerance: float,
            provenance: Provenance) -> ExportReport:
    proto = trace_embedding(model, opset)
    candidate, source = onnxruntime_embedder(proto), torch_embedder(model)
    checks = [check_parity(candidate, source, pixels, batch, kind) for kind, pixels in samples.items() for batch in BATCHES]
    worst = max(check.max_relative_difference for check in checks)
    if not worst <= tolerance:
        raise ParityError(checks, tolerance)
    gate = dict(tolerance=tolerance, max_relative_difference=worst, checks=[asdict(check) for check in checks])
    metadata = _describe(model, proto) | asdict(provenance) | dict(gate=gate)
    write_metadata(proto, metadata)
    return ExportReport(path, _write(proto, path), opset, metadata, checks)


def _inference_copy(model: BaseModel) -> BaseModel:
    """On the CPU, in evaluation mode and without the head, whose prototypes may be larger than all the rest."""
    head, model.head = model.head, None
    try:
        return copy.deepcopy(model).cpu().float().eval()
    finally:
        model.head = head


def _samples(size: tuple[int, int], images: np.ndarray | None, seed: int) -> dict[str, np.ndarray]:
    samples = dict(random=np.random.default_rng(seed).integers(0, 256, (max(BATCHES), *size, 3), np.uint8))
    if images is not None:
        images = np.asarray(images)
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[1:] != (*size, 3) or len(images) == 0:
            raise ValueError(f'the images to check with must be uint8 [N, {size[0]}, {size[1]}, 3], N >= 1, '
                             f'got {images.dtype} {images.shape}')
        samples['given'] = images
    return samples


def _describe(model: BaseModel, proto: onnx.ModelProto) -> dict:
    preprocessor = model.data_preprocessor
    dim = proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value
    order = -1 if preprocessor.color == 'BGR' else 1  # mean and std are written in the order that the caller supplies: RGB
    return dict(
        schema=SCHEMA,
        input=dict(
            layout='NHWC',
            dtype='uint8',
            size=list(preprocessor.size),
            color='RGB',
            mean=list(map(float, preprocessor.mean))[::order],
            std=list(map(float, preprocessor.std))[::order],
            template=preprocessor.template),
        preprocessing_in_graph=True,
        output=dict(embedding='embedding', dim=dim, normalized=False, norm=None, flip=False),
        model_id=model_id(proto),
        precision='fp32',
        thresholds=[])


def _write(proto: onnx.ModelProto, path: Path) -> str:
    """Under a temporary name, synced, renamed. Returns the file's SHA-256."""
    data = proto.SerializeToString()
    temporary = path.with_name(f'.{path.name}.{os.getpid()}.tmp')
    try:
        with open(temporary, 'wb') as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return hashlib.sha256(data).hexdigest()

"""A recognizer as an ONNX file."""
import copy
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from mmengine.model import BaseModel

from mmface.utils import import_onnxruntime

from .embedding_graph import EmbeddingGraph
from .fold_batchnorms import fold_batchnorms
from .graph_options import GraphOptions
from .inputs import prepare_images
from .metadata import SCHEMA, write_metadata
from .model_id import model_id
from .parity import Embed, GateError, ParityCheck, ParityError, check_parity, onnxruntime_embedder, torch_embedder
from .precision import PRECISIONS, Precision
from .provenance import Provenance
from .trace import trace_embedding

BATCHES = (1, 2, 7)
"""Every file is tried with a batch of 1, of 2, and with one that nobody would have chosen for tracing."""

REPORT = 'export_report.json'

EndMetric = Callable[[Embed, Embed], dict]
"""Source and candidate to a record for the report; raises :class:`GateError` where the candidate is worse than it may be."""


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
                options: GraphOptions | None = None,
                precision: Precision = PRECISIONS['fp32'],
                end_metric: EndMetric | None = None,
                provider: str = 'CPUExecutionProvider',
                seed: int = 0,
                provenance: Provenance | None = None) -> ExportReport:
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

    Raises:
        GateError: the file's numbers (:class:`ParityError`) or its end metric are not the recognizer's.
        RuntimeError: torch cannot export the recognizer, or not in this opset.
        ValueError: images of another shape, none where they are needed, or a path that is a folder.
        ImportError: ONNX Runtime is not installed.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f'{path} is a folder: name the file to write')
    if precision.lossy and end_metric is None:
        raise ValueError(f'{precision.name} changes the numbers: it needs an end metric to be judged by (--gate-set)')
    if precision.calibrated and images is None:
        raise ValueError(f'{precision.name} takes the ranges of its numbers from images: give some aligned faces (--images)')
    samples = _samples(tuple(model.data_preprocessor.size), images, seed)
    import_onnxruntime()
    path.parent.mkdir(parents=True, exist_ok=True)
    export = _Export(_inference_copy(model), path, samples, opset, options or GraphOptions(), precision, provider)
    try:
        return export.run(end_metric, provenance or Provenance())
    except Exception:
        path.unlink(missing_ok=True)
        raise


@dataclass
class _Export:
    model: BaseModel
    path: Path
    samples: dict[str, np.ndarray]
    opset: int
    options: GraphOptions
    precision: Precision
    provider: str

    def run(self, end_metric: EndMetric | None, provenance: Provenance) -> ExportReport:
        proto = self.build()
        record = self.describe(proto)
        checks: list[ParityCheck] = []
        try:
            measured = self.judge(onnxruntime_embedder(proto, record, self.provider), end_metric, checks)
        except GateError as error:
            self.report(verdict='failed', problem=str(error), checks=checks)
            raise
        gate = dict(
            verdict='passed', provider=self.provider, limits=self.limits, checks=[asdict(check) for check in checks],
            max_relative_difference=max(check.max_relative_difference for check in checks),
            min_cosine=min(check.min_cosine for check in checks), end_metric=measured)
        metadata = record | asdict(provenance) | dict(gate=gate)
        write_metadata(proto, metadata)
        sha256 = _write(proto.SerializeToString(), self.path)
        self.report(verdict='passed', problem=None, checks=checks, end_metric=measured, sha256=sha256, model_id=record['model_id'])
        return ExportReport(self.path, sha256, self.opset, metadata, checks)

    def judge(self, candidate: Embed, end_metric: EndMetric | None, checks: list[ParityCheck]) -> dict | None:
        """Appends to ``checks``; returns what the end metric says, None without one."""
        source = torch_embedder(self.model, self.options)
        checks += [check_parity(candidate, source, pixels, batch, kind) for kind, pixels in self.samples.items() for batch in BATCHES]
        if not all(check.passes(self.precision) for check in checks):
            raise ParityError(checks, self.precision)
        return None if end_metric is None else end_metric(source, candidate)

    @property
    def limits(self) -> dict:
        return dict(max_relative_difference=self.precision.max_relative_difference, min_cosine=self.precision.min_cosine)

    def build(self) -> onnx.ModelProto:
        """The network in its final number format."""
        model = self.model
        if self.precision.prepare is not None:
            model = copy.deepcopy(model)
            self.precision.prepare(model)
        proto = trace_embedding(EmbeddingGraph(model, self.options).eval(), self.opset)
        fold_batchnorms(proto)
        if self.precision.convert is not None:
            scale = {} if self.options.preprocessing else self.scale
            proto = self.precision.convert(proto, prepare_images(self.samples['given'], self.options.layout == 'NCHW', **scale))
        onnx.checker.check_model(proto)
        return proto

    @property
    def scale(self) -> dict:
        preprocessor = self.model.data_preprocessor
        return dict(color=preprocessor.color, mean=preprocessor.mean, std=preprocessor.std, dtype=np.float32)

    def describe(self, proto: onnx.ModelProto) -> dict:
        preprocessor, options = self.model.data_preprocessor, self.options
        # What the caller supplies: RGB where the file reorders by itself, else what the network wants; mean and std are in that order.
        color = 'RGB' if options.preprocessing else preprocessor.color
        order = 1 if color == preprocessor.color else -1
        return dict(
            schema=SCHEMA,
            input=dict(
                layout=options.layout,
                dtype='uint8' if options.preprocessing else 'float32',
                size=list(preprocessor.size),
                color=color,
                mean=list(map(float, preprocessor.mean))[::order],
                std=list(map(float, preprocessor.std))[::order],
                template=preprocessor.template),
            preprocessing_in_graph=options.preprocessing,
            output=dict(
                embedding='embedding',
                dim=proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value,
                normalized=options.normalize,
                norm='norm' if options.norm else None,
                flip=options.flip),
            model_id=model_id(proto),
            precision=self.precision.name,
            thresholds=[])

    def report(self, checks: list[ParityCheck], **facts: object) -> None:
        """Writes ``export_report.json``."""
        versions = dict(torch=torch.__version__, onnx=onnx.__version__, onnxruntime=import_onnxruntime().__version__)
        whole = dict(
            file=self.path.name, **facts, precision=self.precision.name, provider=self.provider, limits=self.limits, opset=self.opset,
            options=asdict(self.options), checks=[asdict(check) for check in checks], versions=versions)
        _write(json.dumps(whole, indent=2).encode() + b'\n', self.path.with_name(REPORT))


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


def _write(data: bytes, path: Path) -> str:
    """Under a temporary name, synced, renamed. Returns the file's SHA-256."""
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

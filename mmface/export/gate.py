"""What every exported file has to pass before it gets its name, whatever it was made from and into."""
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
import torch

from mmface.utils import import_onnxruntime
from mmface.utils.atomic_file import atomic_file

from .parity import Embed, GateError, ParityCheck, ParityError, check_parity
from .precision import Precision

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
        checks: every batch that went through source and file.
    """
    path: Path
    sha256: str
    opset: int
    metadata: dict
    checks: list[ParityCheck]


@dataclass(frozen=True)
class Gate:
    """Runs a file's network against its source, at batch 1, 2 and 7 and on what it is for, and writes it only where they agree.

    ``export_report.json`` beside the file says how that ended, also where it failed.

    Attributes:
        path: the file to write.
        precision: its number format, with the limits.
        samples: uint8 RGB [N, H, W, 3] by kind, 'random' and, where there are some, 'given'.
        opset: of the ONNX operators, for the report.
        provider: what runs the checks, for the report.
        end_metric: what the file is for, measured before and after.
        options: how it was made, for the report.
    """
    path: Path
    precision: Precision
    samples: dict[str, np.ndarray]
    opset: int
    provider: str
    end_metric: EndMetric | None
    options: dict

    def admit(self, source: Embed, candidate: Embed, record: dict, serialise: Callable[[dict], bytes]) -> ExportReport:
        """Judges and writes.

        Args:
            source: what the file has to equal.
            candidate: the network that is in the file.
            record: the file's metadata but for ``gate``.
            serialise: from the complete metadata to the file's bytes.

        Raises:
            GateError: they do not agree; nothing is written but the report.
        """
        checks: list[ParityCheck] = []
        try:
            measured = self._judge(source, candidate, checks)
        except GateError as error:
            self._report(checks, verdict='failed', problem=str(error))
            raise
        metadata = record | dict(gate=dict(
            verdict='passed', provider=self.provider, limits=self._limits, checks=[asdict(check) for check in checks],
            max_relative_difference=max(check.max_relative_difference for check in checks),
            min_cosine=min(check.min_cosine for check in checks), end_metric=measured))  # yapf: disable
        data = serialise(metadata)
        with atomic_file(self.path) as file:
            file.write(data)
        sha256 = hashlib.sha256(data).hexdigest()
        self._report(checks, verdict='passed', problem=None, end_metric=measured, sha256=sha256, model_id=record['model_id'])
        return ExportReport(self.path, sha256, self.opset, metadata, checks)

    def _judge(self, source: Embed, candidate: Embed, checks: list[ParityCheck]) -> dict | None:
        """Appends to ``checks``; returns what the end metric says, None without one."""
        checks += [check_parity(candidate, source, pixels, batch, kind) for kind, pixels in self.samples.items() for batch in BATCHES]
        if not all(check.passes(self.precision) for check in checks):
            raise ParityError(checks, self.precision)
        return None if self.end_metric is None else self.end_metric(source, candidate)

    @property
    def _limits(self) -> dict:
        return dict(max_relative_difference=self.precision.max_relative_difference, min_cosine=self.precision.min_cosine)

    def _report(self, checks: list[ParityCheck], **facts: object) -> None:
        versions = dict(torch=torch.__version__, onnx=onnx.__version__, onnxruntime=import_onnxruntime().__version__)
        whole = dict(
            file=self.path.name, **facts, precision=self.precision.name, provider=self.provider, limits=self._limits, opset=self.opset,
            options=self.options, checks=[asdict(check) for check in checks], versions=versions)
        with atomic_file(self.path.with_name(REPORT)) as file:
            file.write(json.dumps(whole, indent=2).encode() + b'\n')


def check_request(path: Path, precision: Precision, images: np.ndarray | None, end_metric: EndMetric | None) -> None:
    """Refuses what could not end well, before anything is done.

    Raises:
        ValueError: a path that is a folder, or a precision without the end metric or the images that it needs.
    """
    if path.is_dir():
        raise ValueError(f'{path} is a folder: name the file to write')
    if precision.lossy and end_metric is None:
        raise ValueError(f'{precision.name} changes the numbers: it needs an end metric to be judged by (--gate-set)')
    if precision.calibrated and images is None:
        raise ValueError(f'{precision.name} takes the ranges of its numbers from images: give some aligned faces (--images)')


def sample_images(size: tuple[int, int], images: np.ndarray | None, seed: int) -> dict[str, np.ndarray]:
    """Random images of a size, (height, width), and those given, by kind.

    Raises:
        ValueError: images of another kind, or none.
    """
    samples = dict(random=np.random.default_rng(seed).integers(0, 256, (max(BATCHES), *size, 3), np.uint8))
    if images is not None:
        images = np.asarray(images)
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[1:] != (*size, 3) or len(images) == 0:
            raise ValueError(f'the images to check with must be uint8 [N, {size[0]}, {size[1]}, 3], N >= 1, '
                             f'got {images.dtype} {images.shape}')
        samples['given'] = images
    return samples

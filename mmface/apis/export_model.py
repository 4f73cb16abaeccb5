"""Config and checkpoint to a file that names both."""
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmface.datasets import EvalDataset
from mmface.evaluation import read_thresholds
from mmface.export import PRECISIONS, ExportReport, GraphOptions, Licence, Precision, Provenance, export_onnx, export_program
from mmface.export.provenance import UNKNOWN
from mmface.utils.config_sha256 import config_sha256

from .end_metric_gate import EndMetricGate
from .face_cropper import FaceCropper
from .init_model import build_model
from .model_argument import ModelSource, model_source
from .photo import photo_files

EXPORTERS = {'.onnx': export_onnx, '.pt2': export_program}
"""What writes a file, by its suffix."""


def export_model(model: str | Path,
                 checkpoint: str | Path | None,
                 path: str | Path,
                 *,
                 photos: Sequence[str | Path] = (),
                 opset: int = 20,
                 licence: Licence | None = None,
                 training_set: str = UNKNOWN,
                 thresholds: str | Path | None = None,
                 options: GraphOptions | None = None,
                 precision: Precision = PRECISIONS['fp32'],
                 gate_set: str | Path | None = None,
                 gate_images: str | Path | None = None,
                 max_drop: float = 0.003,
                 provider: str = 'CPUExecutionProvider',
                 accept_unverified: bool = False,
                 cfg_options: dict | None = None) -> ExportReport:
    """Exports a trained network and checks the file, see :func:`mmface.export.export_onnx` and :func:`mmface.export.export_program`.

    Args:
        model: the config file, a converted pair, or a name of the zoo, see :func:`~mmface.apis.init_model`.
        checkpoint: the config's weights; None where the model has its own.
        path: the file to write: ``.onnx``, or ``.pt2`` for torch.
        photos: aligned crops to check with beside the random images: files, or folders, whose images are taken at any depth.
        opset: version of the default ONNX operator set.
        licence: of code, weights and training data; what is 'unknown' is taken from the pair or the zoo.
        training_set: what the network was trained on, in words; likewise.
        thresholds: a ``threshold.json`` found with this network, whose thresholds go into the file.
        options: what the file takes and gives.
        precision: its number format and the limits of the gate, see :data:`mmface.export.PRECISIONS`.
        gate_set: a set of aligned pairs on which network and file have to verify faces equally well, see :class:`EndMetricGate`; a lossy
            precision needs one.
        gate_images: the folder of its images. Default: where the set has them.
        max_drop: the largest loss of accuracy or TAR accepted there, a fraction.
        provider: ONNX Runtime's name of what runs the checks.
        accept_unverified: takes weights of the zoo whose author publishes no hash.
        cfg_options: changes to the config, as ``--cfg-options`` gives them.

    Raises:
        GateError: the file differs from the network, or verifies faces worse.
        FileNotFoundError, ValueError, RuntimeError, ImportError: as the functions used; nothing is written.
    """
    exporter = EXPORTERS.get(Path(path).suffix)
    if exporter is None:
        raise ValueError(f'{path}{" is a folder" if Path(path).is_dir() else ""}: name a file that ends in {" or ".join(EXPORTERS)}')
    record = None if thresholds is None else read_thresholds(thresholds)
    source = model_source(model, checkpoint, accept_unverified)
    if source.weights is None:
        raise ValueError(f'{model}: give its checkpoint too: a network as it is drawn is not worth a file')
    source.config.merge_from_dict(cfg_options or {})
    network = build_model(source)
    provenance = stated_provenance(source, licence or Licence(), training_set)
    preprocessor = network.data_preprocessor
    crops = [FaceCropper(preprocessor.size, preprocessor.template, None)(file).image for file in photo_files(photos)]
    gate = None if gate_set is None else EndMetricGate.from_dataset(EvalDataset(
        str(gate_set), None if gate_images is None else str(gate_images),
        pipeline=[dict(type='DecodeFace'), dict(type='PackFace')]), max_drop)  # yapf: disable
    return exporter(
        network, path, images=np.stack(crops) if crops else None, opset=opset, options=options, precision=precision, end_metric=gate,
        provider=provider, provenance=provenance, thresholds=record)


def stated_provenance(source: ModelSource, licence: Licence, training_set: str) -> Provenance:
    """What the caller says, and what the source says where the caller does not."""
    known = source.provenance
    terms = {name: known_term if (term := getattr(licence, name)) == UNKNOWN else term for name, known_term in vars(known.licence).items()}
    return dataclasses.replace(
        known,
        config_sha256=config_sha256(source.config),
        training_set=known.training_set if training_set == UNKNOWN else training_set,
        licence=Licence(**terms))

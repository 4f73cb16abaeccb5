"""Config and checkpoint to an ONNX file that names both."""
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from mmengine.config import Config

from mmface.export import ExportReport, Licence, Provenance, export_onnx

from .face_cropper import FaceCropper
from .init_model import init_model


def export_model(config: str | Path,
                 checkpoint: str | Path,
                 path: str | Path,
                 *,
                 photos: Sequence[str | Path] = (),
                 opset: int = 20,
                 licence: Licence | None = None,
                 training_set: str = 'unknown',
                 cfg_options: dict | None = None) -> ExportReport:
    """Exports a trained network and checks the file, see :func:`mmface.export.export_onnx`.

    Args:
        config: the config file.
        checkpoint: its weights.
        path: the ONNX file to write.
        photos: aligned crops to check with beside the random images: files, or folders, whose images are taken at any depth.
        opset: version of the default ONNX operator set.
        licence: of code, weights and training data; None says 'unknown' for each.
        training_set: what the network was trained on, in words.
        cfg_options: changes to the config, as ``--cfg-options`` gives them.

    Raises:
        ParityError: the file differs from the network.
        FileNotFoundError, ValueError, RuntimeError, ImportError: as the functions used; nothing is written.
    """
    cfg = Config.fromfile(str(config))
    cfg.merge_from_dict(cfg_options or {})
    model = init_model(cfg, checkpoint)
    provenance = Provenance(
        config=Path(config).name,
        config_sha256=config_sha256(cfg),
        checkpoint_sha256=hashlib.sha256(Path(checkpoint).read_bytes()).hexdigest(),
        training_set=training_set,
        licence=licence or Licence())
    preprocessor = model.data_preprocessor
    crops = [FaceCropper(preprocessor.size, preprocessor.template, None)(file).image for file in _files(photos)]
    return export_onnx(model, path, images=np.stack(crops) if crops else None, opset=opset, provenance=provenance)


def config_sha256(config: Config) -> str:
    """SHA-256 of a config with its bases resolved, as JSON with sorted keys: the same whatever the files' layout and comments."""
    return hashlib.sha256(json.dumps(config.to_dict(), sort_keys=True, default=str).encode()).hexdigest()


def _files(paths: Sequence[str | Path]) -> list[Path]:
    files = []
    for path in map(Path, paths):
        inside = sorted(file for file in path.rglob('*') if file.suffix.lower() in ('.jpg', '.jpeg', '.png', '.bmp', '.webp'))
        if path.is_dir() and not inside:
            raise ValueError(f'{path}: no image in this folder')
        files += inside if path.is_dir() else [path]
    return files

"""What the argument "a model" can be: a file of one of three kinds, or a name of the zoo."""
from dataclasses import dataclass
from pathlib import Path

from mmengine.config import Config, ConfigDict
from mmengine.logging import print_log
from torch import Tensor

from mmface.export import Licence, Provenance
from mmface.export.provenance import UNKNOWN
from mmface.utils.config_sha256 import config_sha256
from mmface.zoo import Manifest, ModelEntry, ModelPair, fetch_weights, model_index
from mmface.zoo.convert import convert
from mmface.zoo.download import sha256_of
from mmface.zoo.model_pair import pair_paths
from mmface.zoo.safe_load import find_weights, safe_load

CHECKPOINTS = ('.bin', '.ckpt', '.onnx', '.pt', '.pth', '.tar')  #: files that are no model by themselves


@dataclass(frozen=True)
class ModelSource:
    """A network before it is built.

    Attributes:
        name: what reports call it.
        config: has at least a ``model``.
        weights: tensors by name, with or without the head's; None leaves the network as it is drawn.
        where: the file of the weights, for messages.
        provenance: what goes into an exported file.
    """
    name: str
    config: Config
    weights: dict[str, Tensor] | None
    where: Path | None
    provenance: Provenance


def model_source(model: str | Path | Config, checkpoint: str | Path | None = None, accept_unverified: bool = False) -> ModelSource:
    """Finds out what a model argument is, and reads it.

    Args:
        model: a config, or its file (``.py``); a converted pair (``NAME.safetensors`` or ``NAME.json``); or a name of the zoo.
        checkpoint: weights: of a config; of a name of the zoo, for those that were fetched by hand. A pair has its own.
        accept_unverified: see :func:`mmface.zoo.download`.

    Raises:
        FileNotFoundError: no such file.
        ValueError: none of these, or one that does not fit with a checkpoint; says what to do.
        DownloadError: weights that cannot be fetched.
    """
    if isinstance(model, Config):
        return _of_config(model, checkpoint)
    suffix = Path(model).suffix
    if suffix == '.py':
        return _of_config(Config.fromfile(str(model)), checkpoint)
    if suffix in ('.safetensors', '.json'):
        if checkpoint is not None:
            raise ValueError(f'{model} has its own weights: leave {checkpoint} out')
        return _of_pair(ModelPair.read(model), Path(model))
    if suffix in CHECKPOINTS:
        raise ValueError(f'{model}: this file does not say which network it is of. Give its config as the model and the file as its '
                         'checkpoint, or convert it: mmface convert FILE')
    return zoo_source(model_index().find(str(model)), True if checkpoint is None else checkpoint, accept_unverified)


def is_pair(path: str | Path) -> bool:
    """Whether a file is one of a converted pair: a ``.safetensors`` file without a manifest beside it holds something else."""
    try:
        Manifest.read(pair_paths(path)[1])
    except (FileNotFoundError, ValueError):
        return False
    return True


def zoo_source(entry: ModelEntry, pretrained: bool | str | Path, accept_unverified: bool = False) -> ModelSource:
    """A model of the zoo.

    Args:
        entry: what the zoo says of it.
        pretrained: True: with the zoo's weights. False: as it is drawn. A file: with these, fetched by hand, converted where the entry
            names a converter.
        accept_unverified: see :func:`mmface.zoo.download`.

    Raises:
        ValueError: the zoo has no weights for it; says how to come by them.
        DownloadError: see :func:`mmface.zoo.download`.
    """
    if pretrained is False:
        if entry.config_path is None:
            raise ValueError(f'{entry.name} has no config of its own: its description comes with its weights')
        return _of_config(Config.fromfile(str(entry.config_path)), None, entry)
    path = fetch_weights(entry, accept_unverified) if pretrained is True else Path(pretrained)
    if path.suffix == '.safetensors' and is_pair(path):
        return _of_pair(ModelPair.read(path), path)
    if entry.converter is not None:
        return _of_pair(_converted(path, entry), path)
    return _of_config(Config.fromfile(str(entry.config_path)), path, entry)


def _of_config(config: Config, checkpoint: str | Path | None, entry: ModelEntry | None = None) -> ModelSource:
    if 'model' not in config:
        raise ValueError(f'{config.filename}: this config has no `model`')
    path = None if checkpoint is None else Path(checkpoint)
    weights = None if path is None else _read(path)
    name = entry.name if entry else Path(checkpoint or config.filename or 'model').stem
    provenance = Provenance(
        config=Path(config.filename).name if config.filename else UNKNOWN,
        config_sha256=config_sha256(config),
        checkpoint_sha256=UNKNOWN if path is None else sha256_of(path),
        training_set=str(entry.metadata.get('Training Data', UNKNOWN)) if entry else UNKNOWN,
        licence=Licence(**vars(entry.licence)) if entry else Licence())
    return ModelSource(name, config, weights, path, provenance)


def _of_pair(pair: ModelPair, path: Path) -> ModelSource:
    manifest = pair.manifest
    config = Config(dict(default_scope='mmface', model=ConfigDict(manifest.model)))
    provenance = Provenance(
        config=str(manifest.source.get('config', manifest.family)),
        config_sha256=config_sha256(config),
        checkpoint_sha256=manifest.source.get('sha256', manifest.weights_sha256) or UNKNOWN,
        training_set=manifest.training_set,
        licence=Licence(**manifest.licence))
    return ModelSource(path.stem, config, pair.weights, path, provenance)


def _read(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise FileNotFoundError(f'{path}: there is no such checkpoint')
    return find_weights(safe_load(path), path)


def _converted(path: Path, entry: ModelEntry) -> ModelPair:
    converted = convert(path, entry.converter, training_set=entry.metadata.get('Training Data'), licence=vars(entry.licence))
    for note in converted.notes:
        print_log(f'{entry.name}: {note}', 'current')
    return ModelPair(converted.weights, converted.manifest)

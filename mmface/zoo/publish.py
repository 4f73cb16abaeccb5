"""From a checkpoint to files that can be given away."""
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from mmengine.model import BaseModel
from torch import Tensor

from mmface.utils.atomic_file import atomic_file
from mmface.utils.config_sha256 import config_sha256

from .build_network import backbone_only, build_network
from .data_hash import data_hash
from .download import sha256_of
from .manifest import UNKNOWN, Manifest
from .model_card import ModelCard
from .model_pair import ModelPair, pair_paths
from .safe_load import find_weights, safe_load
from .training_log import TrainingLog

_PARTS = ('type', 'backbone', 'neck', 'data_preprocessor')


@dataclass(frozen=True)
class Published:
    """What was written.

    Attributes:
        weights, manifest, card: the three files.
        removed: what the checkpoint held that they do not: its own keys, and ``head``.
    """
    weights: Path
    manifest: Path
    card: Path
    removed: tuple[str, ...]


def publish(checkpoint: str | Path,
            out: str | Path,
            *,
            config: str | Path | None = None,
            keep_head: bool = False,
            training_set: str = UNKNOWN,
            licence: Mapping[str, str] | None = None,
            data: str | Path | None = None,
            results: Mapping | None = None,
            command: str | None = None,
            summary: str | None = None) -> Published:
    """Writes the network of a checkpoint as safetensors, a manifest and a model card.

    The head goes: a prototype is a template of a person of the training set. So do the names of the classes, and everything that belongs to
    the training and not to the network: optimizer, schedules, message hub, paths. Nothing that the checkpoint holds is executed.

    Args:
        checkpoint: as MMEngine writes it, or a state dict.
        out: ``NAME.safetensors``; the manifest becomes ``NAME.json``, the card ``NAME.md``.
        config: what was trained. Default: the one config that lies beside the checkpoint, where MMEngine puts it.
        keep_head: leaves the head's tensors in.
        training_set: what it was trained on, in words.
        licence: of ``code``, ``weights`` and ``data``.
        data: the training set, to be hashed: a file or a folder.
        results: what ``tools/evaluate.py --out`` wrote about the network.
        command: which gave the results.
        summary: opens the card.

    Raises:
        FileNotFoundError: no such file, or no config.
        ValueError: the checkpoint does not fit the config, or is no checkpoint.
    """
    checkpoint = Path(checkpoint)
    path, _ = pair_paths(out)
    config_path = _config_beside(checkpoint) if config is None else Path(config)
    settings = Config.fromfile(str(config_path))
    loaded = safe_load(checkpoint)
    weights = {name.removeprefix('module.'): tensor for name, tensor in find_weights(loaded, checkpoint).items()}
    network = build_network(settings.model, weights, checkpoint)
    kept = weights if keep_head else backbone_only(weights)
    source: dict[str, Any] = dict(
        file=checkpoint.name, sha256=sha256_of(checkpoint), config=config_path.name,
        config_sha256=config_sha256(settings), seed=settings.get('randomness', {}).get('seed', UNKNOWN))
    if data is not None:
        source['data_sha256'] = data_hash(Path(data))
    manifest = Manifest(
        family='mmface', model=embedding_config(settings.model), training_set=training_set, num_classes=_classes(settings.model, weights),
        licence=dict(code=UNKNOWN, weights=UNKNOWN, data=UNKNOWN) | dict(licence or {}), source=source, input=_input(network))
    ModelPair(kept, manifest).write(path)
    written = ModelPair.read(path)
    card = ModelCard(
        path.stem, _parameters(network), _dim(network), log=TrainingLog.read(checkpoint.parent),
        results=tuple((results or {}).get('results', ())), command=command, has_head=keep_head)
    if summary:
        card = replace(card, summary=summary)
    with atomic_file(path.with_suffix('.md')) as file:
        file.write(card.text(written.manifest, path).encode())
    gone = [key for key in loaded if key != 'state_dict'] if 'state_dict' in loaded else []
    head = sorted(weights.keys() - kept.keys())
    return Published(path, path.with_suffix('.json'), path.with_suffix('.md'), (*map(str, gone), *head))


def embedding_config(model: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a model's config that describes the network that embeds, without places of files on the machine that trained it."""
    plain = model.to_dict() if hasattr(model, 'to_dict') else dict(model)
    return {key: _without_files(plain[key]) for key in _PARTS if plain.get(key) is not None}


def _without_files(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_files(item) for key, item in value.items() if key not in ('init_cfg', 'pretrained', 'checkpoint')}
    return [_without_files(item) for item in value] if isinstance(value, list | tuple) else value


def _config_beside(checkpoint: Path) -> Path:
    found = sorted(checkpoint.parent.glob('*.py'))
    if len(found) != 1:
        raise FileNotFoundError(f'{checkpoint.parent} holds {len(found)} configs ({", ".join(file.name for file in found) or "none"}): '
                                'name the one that was trained (--config)')
    return found[0]


def _classes(model: Mapping[str, Any], weights: Mapping[str, Tensor]) -> int | None:
    head = model.get('head') or {}
    rows = weights['head.weight'].shape[0] // head.get('num_centers', 1) if 'head.weight' in weights else None
    return head.get('num_classes', rows)


def _input(network: BaseModel) -> dict[str, Any]:
    eats = network.data_preprocessor
    return dict(size=list(eats.size), color=eats.color, mean=list(eats.mean), std=list(eats.std), template=eats.template)


def _parameters(network: BaseModel) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def _dim(network: BaseModel) -> int:
    height, width = network.data_preprocessor.size
    with torch.no_grad():
        return network(torch.zeros(1, 3, height, width)).shape[1]

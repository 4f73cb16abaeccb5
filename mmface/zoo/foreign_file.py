"""mmface's networks as files that other projects read."""
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config

from mmface.utils.atomic_file import atomic_file

from .build_network import backbone_only
from .download import sha256_of
from .layouts import LAYOUTS
from .manifest import Manifest
from .model_pair import ModelPair
from .safe_load import find_weights, safe_load


def read_own(path: str | Path, config: str | Path | None = None) -> ModelPair:
    """A network of ours: a pair, or a checkpoint of a training with its config.

    Raises:
        FileNotFoundError, ValueError: see :class:`~mmface.zoo.ModelPair` and :func:`~mmface.zoo.safe_load`.
    """
    if config is None:
        return ModelPair.read(path)
    path, model = Path(path), Config.fromfile(str(config)).model.to_dict()
    model = {key: model[key] for key in ('type', 'backbone', 'neck', 'data_preprocessor') if key in model} | dict(head=None)
    model.setdefault('data_preprocessor', dict(type='FaceDataPreprocessor'))
    record = Manifest(family='mmface', model=model, input=input_of(model), source=dict(file=path.name, sha256=sha256_of(path)))
    return ModelPair(backbone_only(find_weights(safe_load(path), path)), record)


def write_foreign(pair: ModelPair,
                  to: str,
                  path: str | Path,
                  licence: Mapping[str, str] | None = None,
                  training_set: str | None = None) -> Path:
    """Writes a network of ours as a file that another project reads, and its manifest beside it.

    Args:
        pair: the network.
        to: name of the layout.
        path: the file, as its project calls it: ``NAME.pt``, ``NAME.ckpt``. The manifest is ``NAME.pt.json``.
        licence: what the pair does not say of it, or says wrongly.
        training_set: likewise.

    Raises:
        ValueError: no such layout, or it has no such network; says what differs.
    """
    if to not in LAYOUTS:
        raise ValueError(f'layout {to!r} is none of {", ".join(LAYOUTS)}')
    layout, path, model = LAYOUTS[to], Path(path), pair.manifest.model
    if 'neck' not in model:
        raise ValueError(f'{layout.project} has no network without a neck')
    state = layout.write(backbone_only(pair.weights), model['backbone'], model['neck'])
    content: dict = {layout.prefix + key: tensor.contiguous() for key, tensor in state.items()}
    record = replace(
        pair.manifest,
        family=to,
        licence={**pair.manifest.licence, **(licence or {})},
        training_set=training_set or pair.manifest.training_set)
    return save_with_manifest(content if layout.inside is None else {layout.inside: content}, record, path)


def manifest_beside(path: Path) -> Path:
    """``NAME.pt.json`` for ``NAME.pt``: ``NAME.json`` would be that of ``NAME.safetensors``."""
    return path.with_name(f'{path.name}.json')


def save_with_manifest(content: dict[str, Any], record: Manifest, path: Path) -> Path:
    """Writes what :func:`torch.save` makes of ``content``, and then its manifest, which names its hash."""
    with atomic_file(path) as file:
        torch.save(content, file)
    with atomic_file(manifest_beside(path)) as file:
        file.write(replace(record, weights_sha256=sha256_of(path)).to_json().encode())
    return path


def input_of(model: Mapping[str, Any]) -> dict[str, Any]:
    """What a recognizer's config says of the images it eats, for readers who do not know mmface."""
    preprocessor = dict(size=(112, 112), color='RGB', mean=(127.5, ) * 3, std=(127.5, ) * 3, template='arcface')
    preprocessor |= {key: value for key, value in model['data_preprocessor'].items() if key in preprocessor}
    return preprocessor

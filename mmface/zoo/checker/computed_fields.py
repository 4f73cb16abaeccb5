"""The fields of an entry that follow from its config."""
import re
from pathlib import Path
from typing import Any

from mmengine.config import Config

from .complexity import complexity

COMPUTED = ('Parameters', 'FLOPs', 'Classes', 'Batch Size', 'Epochs')
"""Names of the fields in ``Metadata``, in the order in which they are written."""


def computed_fields(config: Path) -> dict[str, int]:
    """The fields by name, those that the config says nothing about left out.

    Raises:
        ValueError: the config contradicts itself: its name says another batch size, or its head takes other embeddings than the network
            gives; or see :func:`~mmface.zoo.checker.complexity.complexity`.
    """
    cfg = Config.fromfile(str(config))
    cost = complexity(cfg.model)
    head = cfg.model.get('head') or {}
    if head.get('in_channels', cost.dim) != cost.dim:
        raise ValueError(f'its head takes embeddings of {head.in_channels} numbers, its network gives {cost.dim}')
    found: dict[str, Any] = {
        'Parameters': cost.parameters,
        'FLOPs': cost.flops,
        'Classes': head.get('num_classes'),
        'Batch Size': _batch_size(cfg, config.stem),
        'Epochs': cfg.get('train_cfg', {}).get('max_epochs'),
    }
    return {name: value for name, value in found.items() if value is not None}


def _batch_size(cfg: Config, name: str) -> int | None:
    """Over all devices: those of the name (``8xb128``), else one."""
    per_device = cfg.get('train_dataloader', {}).get('batch_size')
    stated = re.search(r'_(\d+)xb(\d+)', name)
    if per_device is None or stated is None:
        return per_device
    if int(stated[2]) != per_device:
        raise ValueError(f'its name says {stated[2]} images on each device, its train_dataloader {per_device}')
    return int(stated[1]) * per_device

"""What a manifest may ask to be built."""
import inspect
from pathlib import Path
from typing import Any

from torch import nn

import mmface.models  # noqa: F401  (registers them)
from mmface.registry import MODELS
from mmface.utils.data_format_error import DataFormatError

_FILES = ('init_cfg', 'pretrained', 'checkpoint', 'checkpoint_path')  #: arguments under which networks load files
_HINT = 'a manifest describes a network, of registered modules and plain values; nothing of this file was built'


def check_types(value: Any, path: Path, where: str = 'model') -> None:
    """Makes sure that building a config from a file does no more than build modules.

    MMEngine takes a ``type`` that it does not know for an import path, and calls what is there, ``os.system`` for example.

    Args:
        value: the config, or a part of it.
        path: the file that it comes from.
        where: the place of the part in it.

    Raises:
        DataFormatError: a type that is no registered module, or an argument by which modules load files or change registries.
    """
    if isinstance(value, list | tuple):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key == 'type' and not _is_module(item):
            raise DataFormatError(path, f'{where}.type', repr(item), _HINT)
        if str(key).startswith('_') or (key in _FILES and item is not None):
            raise DataFormatError(path, f'{where}.{key}', repr(item)[:200], _HINT)
        check_types(item, path, f'{where}.{key}')


def _is_module(name: Any) -> bool:
    if not isinstance(name, str):
        return False
    scope, _, kind = name.rpartition('.')
    registry = MODELS
    while registry is not None:
        registry.import_from_location()
        if scope in ('', registry.scope) and kind in registry.module_dict:
            found = registry.module_dict[kind]
            return inspect.isclass(found) and issubclass(found, nn.Module)
        registry = registry.parent
    return False

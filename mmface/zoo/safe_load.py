"""Checkpoints of anybody, read without running anything that is in them."""
import re
from pathlib import Path
from typing import Any

from torch import Tensor

from mmface.utils.data_format_error import DataFormatError

from .checkpoint.stand_ins import Inert
from .checkpoint.structured_reader import isolated_conversion, read_structured

#: Where the state dict lies in a checkpoint, by whose it is; the first that is there counts.
_CONTAINERS = ('state_dict', 'state_dict_backbone', 'model_state_dict', 'model', 'net', 'backbone')
_DEPTH = 32
_KNOWN = re.compile(r'torch\.\w+|(builtins|__builtin__)\.(set|frozenset|complex|slice|range)')


def safe_load(path: str | Path) -> dict[str, Any]:
    """Reads a file of ``torch.save`` (of any version since 2017) or a ``.safetensors`` file; executes and imports nothing.

    Of what ``torch.load(weights_only=True)`` accepts it gives the same tensors and plain values. Files that this refuses, with
    hyper-parameters of Lightning, omegaconf or argparse, or with a whole network, are read too: tensors and plain values come out, every
    other object as an :class:`Inert` record of what the file says about it.

    Returns:
        what the file holds, as torch.load does; a whole network as its state dict; of ``.safetensors`` the tensors by name.

    Raises:
        FileNotFoundError: there is no such file.
        DataFormatError: another kind of file, a damaged one (checksums are compared, sizes before anything is allocated), or one that names
            functions with which files harm machines.
    """
    path = Path(path)
    if path.suffix == '.safetensors':
        return _load_safetensors(path)
    loaded = read_structured(path)
    if type(loaded) is Inert and type(loaded.state) is dict and '_modules' in loaded.state:
        return dict(_tensors_of_module(loaded, '', 0))
    if not isinstance(loaded, dict):
        value = f'holds {loaded if type(loaded) is Inert else type(loaded).__name__}, expected a dict'
        raise DataFormatError(path, value=value, hint=isolated_conversion(path))
    return dict(loaded)


def find_weights(loaded: dict[str, Any], path: str | Path) -> dict[str, Tensor]:
    """The state dict in what :func:`safe_load` gives: the dict itself, or the one under a known name.

    Raises:
        DataFormatError: where there is none, or one of its values is no tensor.
    """
    for key in _CONTAINERS:
        if isinstance(loaded.get(key), dict) and loaded[key]:
            weights = loaded[key]
            break
    else:
        weights = loaded
    strange = {str(key): value for key, value in weights.items() if not isinstance(value, Tensor)}
    if any(type(value) is Inert for value in strange.values()):
        key, value = next((key, value) for key, value in strange.items() if type(value) is Inert)
        raise DataFormatError(path, f'key {key!r}', f'{value} where a tensor is expected', isolated_conversion(Path(path)))
    if strange or not weights:
        raise DataFormatError(path, value=f'holds the keys {list(map(str, loaded))[:8]}, none of which is a state dict',
                              hint=f'expected tensors by name, or such a dict under one of {", ".join(_CONTAINERS)}')
    return {str(key): value for key, value in weights.items()}


def inert_names(value: Any) -> set[str]:
    """The classes and functions of others that a file named, and that were not executed."""
    found: set[str] = set()
    todo, seen = [value], set()
    while todo:
        value = todo.pop()
        if id(value) in seen or not isinstance(value, dict | list | tuple | Inert):
            continue
        seen.add(id(value))
        if type(value) is Inert:
            if not _KNOWN.fullmatch(value.name):
                found.add(value.name)
            todo += [value.args, value.state, value.items, value.values]
        else:
            todo += [*value, *value.values()] if isinstance(value, dict) else [*value]
    return found


def _load_safetensors(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    try:
        return load_file(path)
    except SafetensorError as error:
        raise DataFormatError(path, value='truncated or no .safetensors file', hint=str(error)) from None


def _tensors_of_module(module: Inert, prefix: str, depth: int) -> list[tuple[str, Tensor]]:
    """What ``state_dict()`` of a pickled network would give, read off its attributes."""
    state = module.state if type(module.state) is dict else {}
    found = []
    for kind in ('_parameters', '_buffers'):
        transient = state.get('_non_persistent_buffers_set')
        left_out = transient.values if type(transient) is Inert else ()
        found += [(prefix + str(key), value) for key, value in (state.get(kind) or {}).items() if value is not None and key not in left_out]
    for key, child in (state.get('_modules') or {}).items():
        if type(child) is Inert and depth < _DEPTH:
            found += _tensors_of_module(child, f'{prefix}{key}.', depth + 1)
    return found

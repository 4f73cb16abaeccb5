"""What a shell offers where neither a command nor an option is wanted."""
from collections.abc import Callable
from pathlib import Path

from mmface.utils.config_folder import config_folder
from mmface.utils.read_yaml import read_yaml

from .configs import config_names


def complete_config(prefix: str, **_: object) -> list[str]:
    """Python files, and configs of the package."""
    return [*_files('py')(prefix), *(name for name in map(_stem, config_names()) if name.startswith(prefix))]


def complete_model(prefix: str, **_: object) -> list[str]:
    """Names of the zoo, read here because ``mmface.zoo`` takes seconds to import, and nobody waits that long for a completion."""
    root = config_folder().parent
    metafiles = [read_yaml(root / file) for file in read_yaml(root / 'model-index.yml')['Import']]
    return [model['Name'] for metafile in metafiles for model in metafile.get('Models', ()) if model['Name'].startswith(prefix)]


def complete_network(prefix: str, **_: object) -> list[str]:
    """Files that networks are in, and names of the zoo."""
    return [*_files('onnx', 'safetensors', 'py')(prefix), *complete_model(prefix)]


def _stem(name: str) -> str:
    return Path(name).stem


def _files(*suffixes: str) -> Callable[[str], list[str]]:
    from argcomplete.completers import FilesCompleter
    return FilesCompleter(suffixes)

"""YAML as data."""
from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # the first is ten times as fast, and not in every build


def read_yaml(path: str | Path) -> Any:
    """What a YAML file holds: plain values only. :func:`mmengine.fileio.load` would call whatever Python function a tag names.

    Raises:
        yaml.YAMLError: not YAML, or a tag that is no plain value's.
    """
    with Path(path).open('rb') as file:
        return yaml.load(file, _LOADER)  # noqa: S506

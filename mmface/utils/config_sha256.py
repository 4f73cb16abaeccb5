"""The identity of a config."""
import hashlib
import json

from mmengine.config import Config


def config_sha256(config: Config) -> str:
    """SHA-256 of a config with its bases resolved, as JSON with sorted keys: the same whatever the files' layout and comments."""
    return hashlib.sha256(json.dumps(config.to_dict(), sort_keys=True, default=str).encode()).hexdigest()
